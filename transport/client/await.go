package client

import (
	"context"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Finished tells that an agent has come to rest: it is TERMINATED, or FAULTED
// without a retry of the kernel's to come, which it leaves only when somebody
// recovers or abandons it.
func Finished(a api.Agent) bool {
	return a.State == "TERMINATED" || a.State == "FAULTED" && a.RetryAt == 0
}

// Await returns the agent as soon as done says so of it. It watches the agent's
// records and reads the agent after those that can matter, instead of asking
// again and again. It waits as long as ctx lets it.
func (c *Client) Await(ctx context.Context, id string, done func(api.Agent) bool, opts ...Option) (api.Agent, error) {
	var agent api.Agent
	s := settingsOf(opts)
	w := c.watching(api.WatchQuery{
		Agent: id, Kinds: []string{"LIFECYCLE", "TICK_COMPLETED", "TICK_FAILED", "INSTRUCTION_QUEUED"},
	}, settings{node: s.node, timeout: s.timeout})
	var failed error
	look := func(opts ...Option) (more bool) {
		agent, failed = c.Agent(ctx, id, opts...)
		return failed == nil && !done(agent)
	}
	// The read comes after the watch has begun, and is linearizable: whatever
	// it does not show, the watch will.
	w.opened = func() (bool, error) {
		more := look(opts...)
		return more, failed
	}
	w.record = func(r *api.Record) bool {
		return agent.Index >= r.Index || look(Consistency(api.SessionLevel), MinIndex(r.Index), Node(s.node))
	}
	if err := w.run(ctx); err != nil && failed == nil {
		failed = err
	}
	if failed != nil {
		return api.Agent{}, failed
	}
	return agent, nil
}
