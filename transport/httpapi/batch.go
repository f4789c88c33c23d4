package httpapi

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// batched is one command of a batch on its way.
type batched struct {
	event   event.Event
	refusal *api.Error // at the door: it is not proposed
}

// batch serves POST …/batch: commands in order, each its own log entry and its
// own outcome. What is wrong with the batch refuses all of it; what is wrong
// with one command refuses that one.
func (s *Server) batch(w http.ResponseWriter, r *http.Request) {
	id, e := sessionOf(r.Header)
	if e == nil && id.key != "" {
		e = invalid(api.HeaderKey, "a batch takes a session: a key would stand for all of its commands", "")
	}
	if e == nil && r.Header.Get(api.HeaderSequence) != "" {
		e = invalid(api.HeaderSequence, "each command of a batch has its own sequence, in the body", "")
	}
	if e != nil {
		s.fail(w, e)
		return
	}
	body, done, e := s.readBody(w, r, api.MaxBatchBytes)
	defer done()
	if e != nil {
		s.fail(w, e)
		return
	}
	commands, e := s.decodeBatch(r, body, &id)
	if e == nil && len(commands) > 1 {
		e = s.charge(w, r, len(commands)-1) // the request itself was the first
	}
	if e != nil {
		s.fail(w, e)
		return
	}
	s.proposeBatch(w, r, commands)
}

func (s *Server) proposeBatch(w http.ResponseWriter, r *http.Request, commands []batched) {
	events := make([]event.Event, 0, len(commands))
	for i := range commands {
		if commands[i].refusal == nil {
			events = append(events, commands[i].event)
		}
	}
	ctx, cancel := s.within(r, s.options.CommandTimeout)
	defer cancel()
	var answers []cluster.Answer
	if len(events) > 0 {
		answers = s.node.ProposeAll(ctx, events)
	}
	if e := s.refusedWhole(answers); e != nil {
		s.fail(w, e)
		return
	}
	results := make([]api.BatchResult, len(commands))
	for i := range commands {
		if results[i].Error = commands[i].refusal; results[i].Error != nil {
			results[i].Error.Node = s.node.ID()
			continue
		}
		results[i].Done, results[i].Error = s.settle(&answers[0])
		answers = answers[1:]
	}
	s.tellBatch(w, results)
}

// tellBatch answers a batch, what took effect without reflection.
func (s *Server) tellBatch(w http.ResponseWriter, results []api.BatchResult) {
	b := append(make([]byte, 0, 64+192*len(results)), `{"results":[`...)
	for i := range results {
		if i > 0 {
			b = append(b, ',')
		}
		if results[i].Done != nil {
			b = append(appendDone(append(b, `{"done":`...), results[i].Done), '}')
			continue
		}
		failed, _ := json.Marshal(results[i]) // texts and numbers: it cannot fail
		b = append(b, failed...)
	}
	writeRaw(w, http.StatusOK, append(b, "]}"...))
}

// refusedWhole tells whether the node proposed nothing at all, for one reason:
// then the batch as such is answered, so that a client goes elsewhere.
func (s *Server) refusedWhole(answers []cluster.Answer) *api.Error {
	for i := range answers {
		if answers[i].Verdict != cluster.Refused || answers[i].Code != answers[0].Code {
			return nil
		}
	}
	if len(answers) == 0 {
		return nil
	}
	return s.unapplied(&answers[0])
}

func (s *Server) decodeBatch(r *http.Request, body value.Raw, id *commandID) ([]batched, *api.Error) {
	var commands []batched
	around := &beside{ctx: r.Context()}
	e := eachField(body, "", func(f field) *api.Error {
		if f.key != "commands" {
			return f.unknown("commands")
		}
		if n := f.raw.Len(); n > api.MaxBatchCommands {
			return invalid(f.path(), "must have at most "+strconv.Itoa(api.MaxBatchCommands)+" commands", "send several batches")
		}
		return f.eachItem(func(_ int, raw value.Raw, path string) *api.Error {
			c, e := s.decodeCommand(around, raw, path, id)
			commands = append(commands, c)
			return e
		})
	})
	if e == nil && len(commands) == 0 {
		e = invalid("commands", "must have at least one command", "")
	}
	return commands, e
}

func (s *Server) decodeCommand(b *beside, raw value.Raw, path string, id *commandID) (batched, *api.Error) {
	var op string
	var sequence int64
	body := field{parent: path, key: "body", raw: value.EmptyMap}
	e := eachField(raw, path, func(f field) *api.Error {
		switch f.key {
		case "op":
			return f.text(&op)
		case "sequence":
			return f.integer(&sequence)
		case "body":
			if f.raw != nil {
				body = f
			}
			return nil
		}
		return f.unknown("body, op, sequence")
	})
	if e != nil {
		return batched{}, e
	}
	session := id.session
	switch {
	case session.Present() && (sequence < 1 || uint64(sequence) < session.Floor):
		return batched{}, invalid(below(path, "sequence"), "must be a whole number from the floor on", "")
	case !session.Present() && sequence != 0:
		return batched{}, invalid(below(path, "sequence"), "goes with the header "+api.HeaderSession, "")
	}
	session.Seq = uint64(sequence)
	kind, command, refusal, e := s.decodeOp(b, api.Op(op), body, path)
	switch {
	case e != nil:
		return batched{}, e
	case refusal != nil:
		return batched{refusal: unasked(refusal)}, nil
	}
	by, refusal := s.mayCommand(b.ctx, kind, command)
	if refusal != nil {
		return batched{refusal: unasked(refusal)}, nil
	}
	own := commandID{session: session}
	return batched{event: own.event(by, kind, command)}, nil
}

// decodeOp decodes one command. refusal is the command's own; e, with a path
// from the root, is the batch's.
func (s *Server) decodeOp(b *beside, op api.Op, f field, path string) (kind event.Kind, command any, refusal, e *api.Error) {
	switch op {
	case api.OpDefine:
		d, e := decodeDefine(f.raw, f.path())
		if e != nil {
			return 0, nil, nil, e
		}
		b.define(d)
		return event.AgentDefine, d, s.checkDefine(d, ""), nil
	case api.OpStart:
		start, e := decodeStart(f.raw, f.path())
		if e != nil {
			return 0, nil, nil, e
		}
		b.define(&start.Define)
		return event.AgentStart, start, s.checkStart(start), nil
	case api.OpTrigger:
		return decodeAs(event.AgentTrigger, f, decodeTrigger, func(c *event.Trigger) *api.Error { return s.checkTriggered(b, c) })
	case api.OpKill:
		return decodeAs(event.AgentKill, f, decodeKill, checkKill)
	case api.OpSubmit:
		return decodeAs(event.AgentSubmit, f, decodeSubmit, func(c *event.Submit) *api.Error { return s.checkSubmit(b, c) })
	}
	return s.decodeOther(b, op, f, path)
}
