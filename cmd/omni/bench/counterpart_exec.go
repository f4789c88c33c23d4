package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/omnikernel/omnikernel/cluster/tools"
	adapter "github.com/omnikernel/omnikernel/cluster/tools/program"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// nobody is whom programs run as that say nothing else, where the node is root.
const nobody = 65534

// execCounterpart is a program that gives its input back. Called directly it runs in a
// sandbox such as nodes have: what is added is what the kernel adds, not what a process
// costs.
func execCounterpart(o *Options, tool string) (*counterpart, error) {
	dir, err := os.MkdirTemp("", "omni-bench-")
	if err != nil {
		return nil, err
	}
	kind := adapter.NewKind(adapter.Options{Sandbox: sandbox.Options{
		Level: sandbox.Auto, Dir: dir, Programs: filepath.Dir(o.Program), UID: nobody,
	}})
	end := func() {
		_ = kind.Close()
		_ = os.RemoveAll(dir)
	}
	if err := kind.Open(); err != nil {
		end()
		return nil, err
	}
	config := map[string]any{"program": filepath.Base(o.Program)}
	raw, _ := value.FromGo(config)
	caller, err := kind.Make(&kerneltools.Manifest{Name: tool, Adapter: "exec", Config: raw})
	if err != nil {
		end()
		return nil, err
	}
	args, _ := value.FromGo(map[string]any{"n": 0})
	return &counterpart{
		config: config,
		steps:  3,
		most:   4 * runtime.NumCPU(), // more at once take the time that nodes need
		args:   func(i int) any { return map[string]any{"n": i} },
		direct: func(ctx context.Context) error {
			if result := caller.Call(ctx, tools.Request{Tool: tool, IdempotencyKey: "bench", Args: args}); !result.OK {
				return errors.New(string(result.Code) + ": " + result.Message)
			}
			return nil
		},
		close: end,
	}, nil
}
