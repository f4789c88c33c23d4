package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// taskID is what people copy: the call's name for ever (TO-4) as one word.
type taskID struct {
	agent identity.ID
	tick  uint64
	call  uint32
}

const agentBytes = 36 // of an id's text

func parseTask(text string) (id taskID, ok bool) {
	if len(text) <= agentBytes || text[agentBytes] != '-' {
		return id, false
	}
	if id.agent, ok = flows.ParseID(text[:agentBytes]); !ok {
		return id, false
	}
	tick, call, _ := strings.Cut(text[agentBytes+1:], "-")
	var err, other error
	var no uint64
	id.tick, err = strconv.ParseUint(tick, 10, 63)
	no, other = strconv.ParseUint(call, 10, 32)
	id.call = uint32(no)
	return id, err == nil && other == nil
}

func (id *taskID) String() string {
	return flows.FormatID(id.agent) + "-" + strconv.FormatUint(id.tick, 10) + "-" + strconv.FormatUint(uint64(id.call), 10)
}

func badTask(field string) *api.Error {
	return invalid(field, "must be the id of a task: the agent's, the tick and the call, with - between", "see what waits with: omni task list")
}

func noTask(v *cluster.View) *api.Error {
	e := refused(api.CodeNotFound, "task", "no such task waits: it was answered, withdrawn, or its time is over", "see what waits with: omni task list")
	e.Index = v.Index
	return e
}

// listTasks serves GET …/tasks.
func (s *Server) listTasks(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, consistency := p.limit(), p.consistency()
	agent, only := p.agent("agent")
	var after taskID
	given := p.values.Has("after")
	if given {
		var ok bool
		if after, ok = parseTask(p.values.Get("after")); !ok && p.broken == nil {
			p.broken = badTask("after")
		}
	}
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	var from tools.Key
	if given {
		no, row := view.Find(after.agent)
		if row == nil {
			return nil, noAgent(&view, "after")
		}
		from = tools.Key{Agent: no, Tick: after.tick, Call: after.call}
	}
	page := &api.TaskPage{Tasks: []api.OpenTask{}, As: as(&view)}
	take := func(c *tools.Call) bool {
		if !view.Tools.Asks(c) || given && c.Key.Compare(from) <= 0 {
			return true
		}
		if len(page.Tasks) == limit {
			page.Next = page.Tasks[limit-1].Task
			return false
		}
		page.Tasks = append(page.Tasks, task(&view, c))
		return true
	}
	if !only {
		view.Tools.AllFrom(from, take)
		return page, nil
	}
	no, row := view.Find(agent)
	if row == nil {
		return nil, noAgent(&view, "agent")
	}
	view.Tools.OfAgent(no, take)
	return page, nil
}

// getTask serves GET …/tasks/{task}.
func (s *Server) getTask(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	id, ok := parseTask(r.PathValue("task"))
	if !ok {
		return nil, badTask("task")
	}
	consistency := p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	no, _ := view.Find(id.agent)
	call, ok := view.Tools.Get(tools.Key{Agent: no, Tick: id.tick, Call: id.call})
	if !ok || !view.Tools.Asks(call) {
		return nil, noTask(&view)
	}
	return &api.TaskAnswer{OpenTask: task(&view, call), As: as(&view)}, nil
}

func task(v *cluster.View, c *tools.Call) api.OpenTask {
	row := v.Agents.Get(c.Key.Agent)
	id := taskID{agent: row.Identity.ID, tick: c.Key.Tick, call: c.Key.Call}
	r, _ := v.Tools.Revision(c.Revision)
	return api.OpenTask{
		Task: id.String(), AgentID: flows.FormatID(row.Identity.ID), Name: row.Identity.Name, Tool: c.Tool, Description: r.Manifest.Description,
		Args: c.Args, Output: r.Manifest.Output, Resource: c.Resource, Revision: c.Revision, Since: c.At, Deadline: c.Deadline,
	}
}

func (s *Server) makeComplete(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return s.makeAnswer(r, false, func(c *event.AnswerTask) *api.Error {
		return eachField(body, "", func(f field) *api.Error {
			if f.key == "result" {
				return f.any(&c.Result)
			}
			return f.unknown("result")
		})
	})
}

func (s *Server) makeReject(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return s.makeAnswer(r, true, func(c *event.AnswerTask) *api.Error {
		return eachField(body, "", func(f field) *api.Error {
			if f.key == "reason" {
				return f.text(&c.Reason)
			}
			return f.unknown("reason")
		})
	})
}

// makeAnswer makes the event of a person's answer. It says nothing but what the request
// says, so that the same request can be sent again.
func (s *Server) makeAnswer(r *http.Request, reject bool, decode func(*event.AnswerTask) *api.Error) (event.Kind, any, *api.Error) {
	id, ok := parseTask(r.PathValue("task"))
	if !ok {
		return 0, nil, badTask("task")
	}
	c := &event.AnswerTask{Agent: flows.FormatID(id.agent), Tick: id.tick, Call: id.call, Reject: reject}
	if e := decode(c); e != nil {
		return 0, nil, e
	}
	if !reject && len(c.Result) == 0 {
		c.Result = value.Null
	}
	return event.TaskAnswer, c, s.checkAnswer(r, id, c)
}

// checkAnswer holds an answer to the output schema of the call's own revision, in a
// state as fresh as can be. Of a call that is over it holds nothing: the kernel says so,
// or repeats what it said before. One that is not asked for yet is none: it would be
// answered unchecked.
func (s *Server) checkAnswer(r *http.Request, id taskID, c *event.AnswerTask) *api.Error {
	if leader, known := s.node.Leader(); known && leader.ID != s.node.ID() {
		_, e := s.settle(&cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNotLeader, Leader: leader})
		return e
	}
	ctx, cancel := s.within(r, s.options.ReadTimeout)
	defer cancel()
	view, e := s.read(ctx, cluster.Consistency{Level: cluster.Linearizable})
	if e != nil {
		return e
	}
	no, row := view.Find(id.agent)
	if row == nil {
		return noTask(&view)
	}
	call, ok := view.Tools.Get(tools.Key{Agent: no, Tick: id.tick, Call: id.call})
	switch {
	case !ok && wasAsked(&row.Execution, id):
		return nil
	case !ok || !view.Tools.Asks(call):
		return noTask(&view)
	case c.Reject || s.options.CheckAnswer == nil:
		return nil
	}
	revision, _ := view.Tools.Revision(call.Revision)
	if refusal := s.options.CheckAnswer(revision.Manifest, c.Result); refusal != nil {
		return atDoor(refusal)
	}
	return nil
}

// wasAsked reports whether a call that is not in the outbox is over: its tick is, or
// has its answer.
func wasAsked(e *execution.Row, id taskID) bool {
	tick := e.Current
	switch {
	case id.tick == 0 || id.tick > e.LastTick:
		return false
	case tick == nil || tick.Seq != id.tick:
		return true
	}
	return id.call <= tick.Calls && tick.Wait(id.call) == nil
}
