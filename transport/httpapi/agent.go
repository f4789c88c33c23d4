package httpapi

import (
	"context"
	"encoding/hex"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/transport/api"
)

// findAgent serves what every read of one agent begins with: the state, and
// the agent in it.
func (s *Server) findAgent(ctx context.Context, r *http.Request, p *params) (cluster.View, uint32, *state.Row, *api.Error) {
	id, ok := flows.ParseID(r.PathValue("id"))
	if !ok {
		return cluster.View{}, 0, nil, checkAgent(r.PathValue("id"))
	}
	consistency := p.consistency()
	if e := p.check(); e != nil {
		return cluster.View{}, 0, nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return view, 0, nil, e
	}
	no, row := view.Find(id)
	if row == nil {
		return view, 0, nil, noAgent(&view, "agent")
	}
	return view, no, row, nil
}

// noAgent is the answer for an unknown agent, with the index as of which it is
// unknown (LC-7).
func noAgent(v *cluster.View, field string) *api.Error {
	e := refused(api.CodeNotFound, field, "no agent has this id", "see what there is with: omni agent list")
	e.Index = v.Index
	return e
}

// getAgent serves GET …/agents/{id}.
func (s *Server) getAgent(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	return describe(&view, no, row), nil
}

func describe(v *cluster.View, no uint32, row *state.Row) *api.Agent {
	id := &row.Identity
	a := &api.Agent{
		AgentID: flows.FormatID(id.ID), Name: id.Name, State: row.Lifecycle.State.String(),
		Mode: id.Mode.String(), Evaluator: id.Evaluator, Archived: id.Archived,
		Labels: texts(v.State, id.Labels), Env: texts(v.State, id.Env), Input: v.State.Interned.Body(id.Input),
		DefinedAt: id.DefinedAt, DefinedSeq: id.Seq,
		FaultClass: row.Lifecycle.Fault.String(),
		Tick:       tick(v.State, no, row.Execution.Current), Queued: uint32(len(row.Execution.Queue)),
		Transitions: recent(&row.Lifecycle), Count: row.Lifecycle.Count,
		As: as(v),
	}
	if o := id.Origin; o != nil {
		a.Forked = &api.Forked{AgentID: flows.FormatID(o.ID), At: o.Seq, Head: hex.EncodeToString(o.Head[:])}
	}
	a.LogBytes, a.LogLimit = row.Logged.Bytes, logLimit(&row.Logged)
	relations(a, v, no, row)
	a.Accounts = accounts(v, no)
	a.Waits = waits(v, no, row)
	if result := row.Execution.Result; result != nil && result.OK {
		a.Result = result.Value
	} else if result != nil {
		a.Failure = &api.TickFailure{
			Code: string(result.Code), Class: failure.ClassOf(result.Code).String(), Message: result.Message,
			Tick: result.Tick, Instruction: result.Node, Line: result.Line, Column: result.Column,
		}
	}
	return a
}

// logLimit names the limit that an agent's part of the log has come to.
func logLimit(size *logsize.Row) string {
	switch {
	case size.Exceeded:
		return "exceeded"
	case size.Warned:
		return "warned"
	}
	return ""
}

// texts reads an interned map of texts: labels or environment.
func texts(s *state.State, no uint32) map[string]string {
	body := s.Interned.Body(no)
	if body == nil {
		return nil
	}
	m, ok := event.DecodeBody[map[string]string](body)
	if !ok {
		return nil
	}
	return *m
}

func tick(s *state.State, agent uint32, t *execution.Tick) *api.Tick {
	if t == nil {
		return nil
	}
	described := &api.Tick{Seq: t.Seq, Phase: phase(t.Phase), Runs: t.Runs, Steps: t.Steps, Calls: t.Calls}
	if t.Phase == execution.Pending {
		for i := range t.Waits {
			if call, ok := s.Tools.Get(tools.Key{Agent: agent, Tick: t.Seq, Call: t.First + uint32(i)}); ok {
				described.Tool = call.Tool
				break
			}
		}
	}
	return described
}

func phase(p execution.Phase) string {
	switch p {
	case execution.Running:
		return "running"
	case execution.Pending:
		return "pending"
	case execution.Answered:
		return "answered"
	case execution.Restored:
		return "restored"
	case execution.Failed:
		return "failed"
	}
	return "unknown"
}

func recent(row *lifecycle.Row) []api.Transition {
	steps := row.Recent()
	transitions := make([]api.Transition, 0, len(steps))
	for _, step := range steps {
		transitions = append(transitions, api.Transition{
			From: step.From.String(), To: step.To.String(), Trigger: step.Trigger.String(), Caller: step.Caller.String(),
			BusSeq: step.Seq, Index: step.Index, AtMillis: step.At,
		})
	}
	return transitions
}
