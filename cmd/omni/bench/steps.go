package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Steps measures durable tool steps: agents in parallel, one per client, each
// running instructions that call the tool echo o.Steps times, one call after
// the other. A step is counted when its instruction's result is applied and
// was seen to be; the latency is that of the whole instruction, from submit to
// result.
func Steps(ctx context.Context, o Options) (Report, error) {
	items := make([]any, o.Steps)
	for i := range items {
		items[i] = i
	}
	return o.instructions(ctx, "steps", "echo", items)
}

// instructions measures instructions that call a tool once for each of the items.
func (o *Options) instructions(ctx context.Context, name, tool string, items []any) (Report, error) {
	input, problem := value.FromGo(items)
	if problem != nil {
		return Report{}, fmt.Errorf("make the input: %s", problem)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	ends := newEnds()
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	from, leader, err := o.now(ctx)
	if err != nil {
		return Report{}, err
	}
	group.Go(func() { ends.watch(watching, o, leader, from) })

	agents, err := o.services(ctx, calls(tool), tool, input, o.Clients)
	if err != nil {
		return Report{}, err
	}
	defer o.end(agents)
	for _, agent := range agents {
		if err := ends.await(ctx, agent); err != nil {
			return Report{}, err
		}
	}
	workers := o.measure(ctx, func(ctx context.Context, w *worker, _ int) (uint64, error) {
		agent := agents[w.place]
		if _, err := w.client.Submit(ctx, event.Submit{Agent: agent, Input: input}); err != nil {
			return 0, err
		}
		return uint64(len(items)), ends.await(ctx, agent)
	})
	report := o.result(name, workers)
	report.StepsEach = len(items)
	return report, ctx.Err()
}

// now is the busSeq after the last record, and the node that leads.
func (o *Options) now(ctx context.Context) (seq uint64, leader string, err error) {
	status, err := o.Client.Status(ctx)
	if err != nil {
		return 0, "", err
	}
	for _, n := range status.Nodes {
		seq = max(seq, n.BusSeq)
	}
	return seq + 1, status.Leader, nil
}

// ends tells waiters when an agent's instruction has ended.
type ends struct {
	mu      sync.Mutex // guards the rest
	waiting map[string]chan error
	early   map[string]error // ended before anybody waited
	over    error            // why there is nothing to wait for any more
}

func newEnds() *ends {
	return &ends{waiting: make(map[string]chan error), early: make(map[string]error)}
}

// watch follows the log until ctx ends, at the leader: a follower of a cluster with
// little to do learns up to a heartbeat later that something is committed.
func (e *ends) watch(ctx context.Context, o *Options, leader string, from uint64) {
	query := api.WatchQuery{From: from, Kinds: []string{"TICK_COMPLETED", "TICK_FAILED"}}
	for record, err := range o.Client.Watch(ctx, query, client.Node(leader)) {
		if err != nil {
			e.close(err)
			return
		}
		var failed error
		if record.Kind == "TICK_FAILED" {
			failed = errors.New("an instruction failed: " + string(record.Body))
		}
		e.end(record.AgentID, failed)
	}
	e.close(context.Canceled)
}

func (e *ends) end(agent string, failed error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, ok := e.waiting[agent]; ok {
		delete(e.waiting, agent)
		w <- failed
		return
	}
	e.early[agent] = failed
}

func (e *ends) close(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = err
	for agent, w := range e.waiting {
		delete(e.waiting, agent)
		w <- err
	}
}

// await waits until the agent's instruction has ended, and says how. One
// goroutine waits for an agent at a time.
func (e *ends) await(ctx context.Context, agent string) error {
	e.mu.Lock()
	if failed, ok := e.early[agent]; ok {
		delete(e.early, agent)
		e.mu.Unlock()
		return failed
	}
	if e.over != nil {
		defer e.mu.Unlock()
		return e.over
	}
	w := make(chan error, 1)
	e.waiting[agent] = w
	e.mu.Unlock()
	select {
	case failed := <-w:
		return failed
	case <-ctx.Done():
		return ctx.Err()
	}
}
