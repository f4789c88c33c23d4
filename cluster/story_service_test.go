package cluster_test

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// service is the world outside of the story: it outlives every node, and what
// it answers depends on nothing but the calls' keys, however often one is sent.
type service struct {
	mu     sync.Mutex // guards what follows
	asked  map[string][]string
	orders map[string]map[string]int // by name and key: how often it was ordered
}

// away is for how many keys an item's keeper is away, before it answers.
var away = map[string]int{"left-a": 2, "left-a-more": 1, "right-a": 3}

var items = map[string]int{"left-a": 3, "left-a-more": 4, "right-a": 5, "right-b": 11}

// travels is how long a request is under way, and its answer: time in which a
// node can die. No two answers come at one moment.
var travels = map[string]time.Duration{
	"left-a": 3 * time.Millisecond, "left-a-more": 4 * time.Millisecond, "right-a": 5 * time.Millisecond, "right-b": 7 * time.Millisecond,
}

func newService() *service {
	return &service{asked: make(map[string][]string), orders: make(map[string]map[string]int)}
}

func (s *service) Manifest() tools.Manifest {
	return tools.Manifest{Name: kerneltools.HTTPTool, MaxResultBytes: 1 << 10, DefaultTimeout: 5 * time.Second}
}

func (s *service) Call(ctx context.Context, r tools.Request) tools.Result {
	url, _ := text(r.Args, "url")
	_, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	kind, name, _ := strings.Cut(path, "/")
	way := cmp.Or(travels[name], 9*time.Millisecond)
	if !sleep(ctx, way) {
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	}
	var result tools.Result
	switch kind {
	case "items":
		result = s.item(name, r.IdempotencyKey)
	case "orders":
		result = s.order(name, r.IdempotencyKey)
	default:
		return tools.Fail(failure.ToolArgsInvalid, "there is no such place")
	}
	if !sleep(ctx, way) {
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	}
	return result
}

// item answers every key the same, always: the first few that nobody is there.
func (s *service) item(name, key string) tools.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := -1
	for i, known := range s.asked[name] {
		if known == key {
			place = i
		}
	}
	if place < 0 {
		place = len(s.asked[name])
		s.asked[name] = append(s.asked[name], key)
	}
	if place < away[name] {
		return tools.Fail(failure.ToolUnreachable, "nobody is there")
	}
	return answer(map[string]any{"n": items[name]})
}

// order does something for each time it is called: it must not be called twice.
func (s *service) order(name, key string) tools.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.orders[name] == nil {
		s.orders[name] = make(map[string]int)
	}
	s.orders[name][key]++
	return answer(map[string]any{"ordered": name})
}

func answer(body any) tools.Result {
	v, problem := value.FromGo(map[string]any{"status": 200, "headers": map[string]any{}, "body": body})
	if problem != nil {
		return tools.Fail(failure.ToolResultInvalid, problem.String())
	}
	return tools.Succeed(v)
}

func text(args value.Raw, member string) (string, bool) {
	raw, ok := args.Get(member)
	if !ok {
		return "", false
	}
	return raw.Text()
}

// ordered tells how often each key ordered the thing.
func (s *service) ordered(name string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.orders[name])
}

// sleep waits, or not when the context ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
