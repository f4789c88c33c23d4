package bench

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Kind of command that Commands sends.
type Kind string

// The kinds.
const (
	Define Kind = "define" // an agent that is new each time: a put of a new key
	Submit Kind = "submit" // an instruction for an agent that waits for it: a put of an old one, and a tick
)

// Commands measures durable commands: each is answered when a majority has it
// on disk and the kernel has applied it.
func Commands(ctx context.Context, o Options) (Report, error) {
	run, end, err := o.command(ctx)
	if err != nil {
		return Report{}, err
	}
	report := o.result("commands", o.measure(ctx, run))
	report.Kind, report.ValueBytes, report.Batch = string(o.Kind), o.ValueBytes, o.Batch
	end()
	return report, ctx.Err()
}

// command makes the operation, and what cleans up after it.
func (o *Options) command(ctx context.Context) (operation, func(), error) {
	payload := strings.Repeat("v", o.ValueBytes)
	if o.Kind == Submit {
		targets, err := o.services(ctx, literal, "echo", nil, o.Clients)
		if err != nil {
			return nil, nil, err
		}
		input, _ := value.FromGo(payload)
		return o.sender(func(n int) any {
			return event.Submit{Agent: targets[n%len(targets)], Input: input}
		}), func() { o.end(targets) }, nil
	}
	labels := map[string]string{"omni-bench": uuid.NewString()}
	env := map[string]string{"value": payload}
	return o.sender(func(int) any { return event.Define{Labels: labels, Env: env} }), func() {}, nil
}

// sender sends what next makes, one by one or in batches.
func (o *Options) sender(next func(n int) any) operation {
	if o.Batch > 0 {
		return func(ctx context.Context, w *worker, n int) (uint64, error) {
			commands := make([]api.Command, o.Batch)
			for i := range commands {
				commands[i] = api.NewCommand(next(n*o.Batch + i))
			}
			results, err := w.client.Batch(ctx, commands)
			if err != nil {
				return 0, err
			}
			var done uint64
			for _, r := range results {
				if r.Err == nil {
					done++
				} else {
					w.fail(true, 1, r.Err)
				}
			}
			return done, nil
		}
	}
	return func(ctx context.Context, w *worker, n int) (uint64, error) {
		var err error
		switch command := next(n).(type) {
		case event.Define:
			_, err = w.client.Define(ctx, command)
		case event.Submit:
			_, err = w.client.Submit(ctx, command)
		}
		return 1, err
	}
}
