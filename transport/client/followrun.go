package client

import (
	"context"
	"iter"

	"github.com/omnikernel/omnikernel/transport/api"
)

// RunNews is a run, and what has just happened to it.
type RunNews struct {
	Run    api.Run
	Record *api.Record // nil where the run was only looked at: at first, and at another node
}

// ofRuns are the kinds of records after which a run is another one.
var ofRuns = []string{
	"RUN_PLANNED", "RUN_TRANSITION", "RUN_TASK_STARTED", "RUN_TASK_COMPLETED", "RUN_TASK_FAILED", "RUN_PAUSE_REQUESTED",
	"INVALID_RUN_TRANSITION", "BUDGET_CHANGED", "BUDGET_WARNING", "BUDGET_EXCEEDED", "BUDGET_RESERVED", "BUDGET_SETTLED",
	"LIFECYCLE",
}

// FollowRun tells of a run as it is, and then of each record of its root agent that
// can change it, in order, each once, without gaps. The run that comes with a record
// is as of the record's index or a later one. It ends when the caller has enough, with
// the context, or with an error that no node would answer otherwise.
func (c *Client) FollowRun(ctx context.Context, id string, opts ...Option) iter.Seq2[RunNews, error] {
	return func(yield func(RunNews, error) bool) {
		if err := c.followRun(ctx, id, ofRuns, func(n RunNews) bool { return yield(n, nil) }, opts); err != nil {
			yield(RunNews{}, err)
		}
	}
}

// AwaitRun returns the run as soon as done says so of it. It waits as long as ctx
// lets it.
func (c *Client) AwaitRun(ctx context.Context, id string, done func(api.Run) bool, opts ...Option) (run api.Run, err error) {
	err = c.followRun(ctx, id, []string{"RUN_TRANSITION", "RUN_PAUSE_REQUESTED"}, func(n RunNews) bool {
		run = n.Run
		return !done(run)
	}, opts)
	if err != nil {
		return api.Run{}, err
	}
	return run, nil
}

// followRun is both: more says whether to go on.
func (c *Client) followRun(ctx context.Context, id string, kinds []string, more func(RunNews) bool, opts []Option) error {
	// Asked before the watch, because that knows agents only.
	run, err := c.Run(ctx, id, opts...)
	if err != nil {
		return err
	}
	s := settingsOf(opts)
	w := c.watching(api.WatchQuery{Agent: id, Kinds: kinds}, settings{node: s.node, timeout: s.timeout})
	var failed error
	first := uint64(0)
	// The read comes after the watch has begun, and is linearizable: whatever
	// it does not show, the watch will.
	w.opened = func() (bool, error) {
		if run, failed = c.Run(ctx, id, opts...); failed != nil {
			return false, failed
		}
		if first == 0 {
			first = run.Index
		}
		return more(RunNews{Run: run}), nil
	}
	w.record = func(r *api.Record) bool {
		if r.Index <= first {
			return true // what was shown first has it
		}
		if run.Index < r.Index {
			if run, failed = c.Run(ctx, id, Consistency(api.SessionLevel), MinIndex(r.Index), Node(s.node)); failed != nil {
				return false
			}
		}
		return more(RunNews{run, r})
	}
	if err := w.run(ctx); err != nil && failed == nil {
		failed = err
	}
	return failed
}
