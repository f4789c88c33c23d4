package httpapi

import (
	"net/http"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// principal of whoever comes through this door while nobody is judged.
const principal = "client"

// making turns a command's body into the event that asks for it, or refuses.
type making func(r *http.Request, body value.Raw) (event.Kind, any, *api.Error)

// command serves one command: read, check, propose, tell.
func (s *Server) command(status int, limit int64, make making) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, e := identityOf(r.Header)
		if e != nil {
			s.fail(w, e)
			return
		}
		body, done, e := s.readBody(w, r, limit)
		defer done()
		if e != nil {
			s.fail(w, e)
			return
		}
		kind, command, e := make(r, body)
		if e != nil {
			s.fail(w, unasked(e))
			return
		}
		ctx, cancel := s.within(r, s.options.CommandTimeout)
		defer cancel()
		by, e := s.mayCommand(ctx, kind, command)
		if e != nil {
			s.fail(w, unasked(e))
			return
		}
		answer := s.node.Propose(ctx, id.event(by, kind, command))
		told, e := s.settle(&answer)
		if e != nil {
			s.fail(w, e)
			return
		}
		writeDone(w, status, told)
	}
}

// unasked is a refusal before anything was proposed. It has no index, even when the
// command needed a read that has one: an index means that the kernel judged the
// command, and that the same answer would come again.
func unasked(e *api.Error) *api.Error {
	e.Index = 0
	return e
}

// event is what is proposed; the node stamps the rest.
func (id *commandID) event(by string, kind event.Kind, command any) event.Event {
	return event.Event{
		Kind: kind, Principal: by,
		Session: id.session, IdempotencyKey: id.key, Body: event.Encode(command),
	}
}

func (s *Server) makeDefine(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	d, e := decodeDefine(body, "")
	if e == nil {
		e = s.checkDefine(d, "")
	}
	return event.AgentDefine, d, e
}

func (s *Server) makeStart(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	start, e := decodeStart(body, "")
	if e == nil {
		e = s.checkStart(start)
	}
	return event.AgentStart, start, e
}

func (s *Server) makeTrigger(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.Trigger{Agent: r.PathValue("id"), Trigger: r.PathValue("trigger")}
	return made(event.AgentTrigger, c, body, decodeTrigger, func(c *event.Trigger) *api.Error {
		return s.checkTriggered(&beside{ctx: r.Context()}, c)
	})
}

func (s *Server) makeKill(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.AgentKill, &event.Kill{Agent: r.PathValue("id")}, body, decodeKill, checkKill)
}

func (s *Server) makeSubmit(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.AgentSubmit, &event.Submit{Agent: r.PathValue("id")}, body, decodeSubmit,
		func(c *event.Submit) *api.Error { return s.checkSubmit(&beside{ctx: r.Context()}, c) })
}

// made reads the body of a command whose address is in it already, and checks it.
func made[T any](
	kind event.Kind, c *T, body value.Raw, decode func(value.Raw, string, *T) *api.Error, check func(*T) *api.Error,
) (event.Kind, any, *api.Error) {
	e := decode(body, "", c)
	if e == nil {
		e = check(c)
	}
	return kind, c, e
}

func checkKill(c *event.Kill) *api.Error { return checkAgent(c.Agent) }

func (s *Server) checkDefine(d *event.Define, field string) *api.Error {
	r := flows.CheckDefine(d, field)
	if r == nil {
		r = flows.CheckCompiles(d, field, s.programs.Lookup)
	}
	if r == nil {
		_, r = s.schemas.of(d.Input, field+"input")
	}
	if r != nil {
		return atDoor(r)
	}
	return nil
}

func checkAgent(id string) *api.Error {
	if _, ok := flows.ParseID(id); !ok {
		return invalid("agent", "must be a UUID such as 018f4e5c-0000-7000-8000-000000000001", "see what there is with: omni agent list")
	}
	return nil
}

func checkTrigger(t *event.Trigger) *api.Error {
	if e := checkAgent(t.Agent); e != nil {
		return e
	}
	trigger, ok := lifecycle.ParseTrigger(t.Trigger)
	switch {
	case !ok:
		return invalid("trigger", "must be one of the lifecycle table's triggers", "they are: "+triggerNames)
	case t.Force && trigger != lifecycle.Suspend:
		return invalid("force", "only suspend can be forced", "")
	}
	return nil
}

var triggerNames = func() string {
	names := make([]string, 0, lifecycle.Triggers)
	for t := lifecycle.Trigger(1); t <= lifecycle.Triggers; t++ {
		names = append(names, t.String())
	}
	return strings.Join(names, ", ")
}()
