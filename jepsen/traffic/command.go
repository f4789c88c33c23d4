package traffic

import (
	"context"
	"fmt"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Command is one command as it is sent. Do says by its body which it is: a struct
// of kernel/event. Bodies are unique in a run (by a reason, an input, a message),
// so that their effects can be told apart in the log.
type Command struct {
	Name string // of the operation
	Key  string // what it is about
	In   any    // in the workload's own type; nil when the body says it all
	Body any
}

// Do sends a command, records it, and settles it with an api.Done.
func (w *Worker) Do(ctx context.Context, c Command, opts ...client.Option) (api.Done, history.Outcome) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call(c.Name, c.Key, c.In).Sends(kindOf(c.Body).String(), c.Body)
	done, err := Send(ctx, w.Client, c.Body, opts...)
	if err == nil {
		call.From(done.Node, done.Index, done.BusSeq)
	}
	return done, w.Settle(call, err, done)
}

// DoTogether sends commands in one request, which proposes them in their order, each
// with its own outcome. The first is the worker's process's, each other a process of
// its own.
func (w *Worker) DoTogether(ctx context.Context, commands ...Command) []history.Outcome {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	calls := make([]*history.Call, len(commands))
	bodies := make([]api.Command, len(commands))
	for i, c := range commands {
		process := w.Process
		if i > 0 {
			process = w.Env.Process()
		}
		w.calls++
		calls[i] = w.Record.Call(process, w.Workload, c.Name, c.Key, c.In).Sends(kindOf(c.Body).String(), c.Body)
		bodies[i] = api.NewCommand(c.Body)
	}
	results, err := w.Client.Batch(ctx, bodies)
	outcomes := make([]history.Outcome, len(commands))
	for i, call := range calls {
		failed := err
		var done api.Done
		if err == nil {
			done, failed = results[i].Done, results[i].Err
		}
		if failed == nil {
			call.From(done.Node, done.Index, done.BusSeq)
		}
		outcomes[i] = w.Settle(call, failed, done)
	}
	return outcomes
}

// Send sends one of the commands of kernel/event. It panics on anything else: that
// is the workload's mistake.
func Send(ctx context.Context, c *client.Client, body any, opts ...client.Option) (api.Done, error) {
	switch b := body.(type) {
	case event.Define:
		return c.Define(ctx, b, opts...)
	case event.Start:
		return c.Start(ctx, b, opts...)
	case event.Trigger:
		return c.Trigger(ctx, b, opts...)
	case event.Kill:
		return c.Kill(ctx, b, opts...)
	case event.Submit:
		return c.Submit(ctx, b, opts...)
	case event.Send:
		return c.Send(ctx, b, opts...)
	case event.Reclassify:
		return c.Reclassify(ctx, b, opts...)
	case event.RevokeToken:
		return c.RevokeToken(ctx, b, opts...)
	case event.RevokeGrant:
		return c.RevokeGrant(ctx, b, opts...)
	case event.SetBudget:
		return c.SetBudget(ctx, b, opts...)
	case event.PutShared:
		return c.PutShared(ctx, b, opts...)
	case event.DeleteShared:
		return c.DeleteShared(ctx, b, opts...)
	}
	panic(fmt.Sprintf("traffic: %T is no command", body))
}

// kindOf is the kind of the event that a command becomes.
func kindOf(body any) event.Kind {
	switch body.(type) {
	case event.Define:
		return event.AgentDefine
	case event.Start:
		return event.AgentStart
	case event.Trigger:
		return event.AgentTrigger
	case event.Kill:
		return event.AgentKill
	case event.Submit:
		return event.AgentSubmit
	case event.Send:
		return event.AgentSend
	case event.Reclassify:
		return event.AgentReclassify
	case event.RevokeToken:
		return event.TokenRevoke
	case event.RevokeGrant:
		return event.GrantRevoke
	case event.SetBudget:
		return event.BudgetSet
	case event.PutShared:
		return event.SharedPut
	case event.DeleteShared:
		return event.SharedDelete
	}
	panic(fmt.Sprintf("traffic: %T is no command", body))
}
