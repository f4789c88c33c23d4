package cluster_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// shop is the world outside of a run: what it sells, what it charges for each
// request, and how often it was asked for what. It outlives every node.
type shop struct {
	mu     sync.Mutex // guards orders
	orders map[string]map[string]int
}

// price is what a request comes to, in tokens: less than its caller declares. Each
// is another, so that no sum comes about by accident.
var price = map[string]uint64{
	"orders/a": 20, "orders/b": 27, "orders/c": 23, "items/a": 4, "items/b": 5, "items/c": 6,
}

func newShop() *shop { return &shop{orders: make(map[string]map[string]int)} }

func (s *shop) Manifest() tools.Manifest {
	return tools.Manifest{Name: kerneltools.HTTPTool, MaxResultBytes: 1 << 10, DefaultTimeout: 5 * time.Second}
}

// Call is under way for a few milliseconds, there and back: time in which a node
// can die.
func (s *shop) Call(ctx context.Context, r tools.Request) tools.Result {
	url, _ := text(r.Args, "url")
	_, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	kind, name, _ := strings.Cut(path, "/")
	if !sleep(ctx, 4*time.Millisecond) {
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	}
	result := answer(map[string]any{"n": price[path]})
	if kind == "orders" {
		s.order(name, r.IdempotencyKey)
		result = answer(map[string]any{"ordered": name})
	}
	if !sleep(ctx, 4*time.Millisecond) {
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	}
	result.Usage = kerneltools.Usage{Metered: true, Tokens: price[path], USDMicros: price[path] * 10}
	return result
}

func (s *shop) order(name, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.orders[name] == nil {
		s.orders[name] = make(map[string]int)
	}
	s.orders[name][key]++
}

// ordered tells how often the thing was ordered, under whatever key.
func (s *shop) ordered(name string) (times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.orders[name] {
		times += n
	}
	return times
}
