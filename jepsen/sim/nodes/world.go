package nodes

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// world is what is outside: a tool that must not be called twice. It outlives
// every node, and counts.
type world struct {
	mu    sync.Mutex // guards calls
	calls map[string]int
}

func newWorld() *world { return &world{calls: make(map[string]int)} }

// Manifest implements tools.Adapter.
func (w *world) Manifest() tools.Manifest {
	return tools.Manifest{Name: kerneltools.HTTPTool, MaxResultBytes: 1 << 10, DefaultTimeout: 5 * time.Second}
}

// Call implements tools.Adapter. It takes a little time, in which a node can die.
func (w *world) Call(ctx context.Context, r tools.Request) tools.Result {
	w.mu.Lock()
	w.calls[r.IdempotencyKey]++
	w.mu.Unlock()
	select {
	case <-time.After(8 * time.Millisecond):
	case <-ctx.Done():
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	}
	v, problem := value.FromGo(map[string]any{"status": 200, "headers": map[string]any{}, "body": "done"})
	if problem != nil {
		return tools.Fail(failure.ToolResultInvalid, problem.String())
	}
	return tools.Succeed(v)
}

func (w *world) called() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.calls)
}
