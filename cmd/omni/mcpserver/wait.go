package mcpserver

import (
	"context"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// How long agent_wait and its like wait.
const (
	usualWaitMillis = 20_000
	maxWait         = time.Minute // the bound in the schemas
)

type waitWanted struct {
	ofAgent
	Millis int64 `json:"timeout_ms,omitempty" jsonschema:"how long to wait, 20000 when left out" min:"1" max:"60000"`
}

// stands is how an agent stands after a wait.
type stands struct {
	AgentID string     `json:"agent_id"`
	Settled bool       `json:"settled"` // it has come to rest
	Why     string     `json:"why"`
	Agent   *api.Agent `json:"agent,omitempty"`
	Started *api.Done  `json:"started,omitempty"` // the agent was started by this call
}

// Why a wait was over.
const (
	whyEnded    = "ended"
	whyFaulted  = "faulted: it needs somebody to recover or abandon it"
	whyIdle     = "idle: a service with nothing left to do"
	whyDecision = "decision: a call of it waits for escalation_approve or escalation_deny"
	whyTask     = "task: a call of it waits for task_complete or task_reject"
	whyTime     = "the time is over, and the agent goes on"
	whyUnread   = "the agent goes on, and how it stands could not be read: agent_get tells"
)

// restOf tells why an agent rests; empty when it does not.
func restOf(a api.Agent) string {
	switch {
	case a.State == "TERMINATED":
		return whyEnded
	case client.Finished(a):
		return whyFaulted
	case a.Mode == "service" && a.State == "ACTIVE" && a.Tick == nil && a.Queued == 0:
		return whyIdle
	case slices.ContainsFunc(a.Waits, func(w api.Wait) bool { return w.For == "escalation" }):
		return whyDecision
	case slices.ContainsFunc(a.Waits, func(w api.Wait) bool { return w.For == "person" }):
		return whyTask
	}
	return ""
}

func waitAgent(ctx context.Context, kernel *client.Client, in waitWanted) (any, error) {
	if in.Millis == 0 {
		in.Millis = usualWaitMillis
	}
	return await(ctx, kernel, in.Agent, in.Millis)
}

// await follows an agent until it rests or the time is over.
func await(ctx context.Context, kernel *client.Client, agent string, millis int64, options ...client.Option) (*stands, error) {
	brief, cancel := context.WithTimeout(ctx, time.Duration(millis)*time.Millisecond)
	defer cancel()
	found, err := kernel.Await(brief, agent, func(a api.Agent) bool { return restOf(a) != "" }, options...)
	if err != nil && brief.Err() != nil && ctx.Err() == nil {
		found, err = kernel.Agent(ctx, agent, options...)
	}
	if err != nil {
		return nil, err
	}
	s := &stands{AgentID: agent, Why: restOf(found), Agent: &found}
	if s.Settled = s.Why != ""; !s.Settled {
		s.Why = whyTime
	}
	return s, nil
}

// awaitStarted is await for an agent that this call has started: that stands, whatever
// becomes of the wait.
func awaitStarted(ctx context.Context, kernel *client.Client, done api.Done, millis int64) *stands {
	s, err := await(ctx, kernel, done.AgentID, millis, client.MinIndex(done.Index))
	if err != nil {
		s = &stands{AgentID: done.AgentID, Why: whyUnread}
	}
	s.Started = &done
	return s
}
