package bench

import (
	"context"
	"sync"

	remote "github.com/omnikernel/omnikernel/transport/worker"
)

// workerCounterpart is a worker that does nothing with as many calls at once as there
// are agents. Called directly it is a function.
func workerCounterpart(o *Options, tool string) (*counterpart, error) {
	ctx, cancel := context.WithCancel(context.Background())
	asking := o.Client.Fork()
	works := remote.New(asking, remote.Options{Name: "bench", Concurrency: o.Clients})
	noop := func(context.Context, *remote.Call) (any, error) { return true, nil }
	works.Handle(tool, noop)
	var running sync.WaitGroup
	running.Go(func() { _ = works.Run(ctx) }) // what it could not do shows in the calls
	return &counterpart{
		config: map[string]any{},
		args:   func(i int) any { return map[string]any{"n": i} },
		direct: func(ctx context.Context) error {
			_, err := noop(ctx, nil)
			return err
		},
		close: func() {
			cancel()
			running.Wait()
		},
	}, nil
}
