package logaudit_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// registering: a tool is registered, agent 1 calls it, it is registered anew, agent 2
// calls that, and it is taken away.
func registering(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	call := func() {
		s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t,
			`{"kind":"CALL","payload":{"tool":"crm.get","args":{"id":"acme"}}}`)}, nil)
	}
	s.Register(tools.Manifest{Name: "crm.get", Adapter: "http", Segments: []string{"id"}})
	call()
	s.Register(tools.Manifest{Name: "crm.get", Adapter: "http", Version: "2"})
	call()
	s.Deregister("crm.get")
	s.Answer(true, 1)
	s.Answer(true, 2)
	s.Pulse()
	return s
}

// people: three agents ask a person; one is answered, one is rejected, and one
// nobody answers.
func people(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	s.Register(tools.Manifest{Name: "refund.approve", Adapter: "human", TimeoutMillis: 1000})
	ask := func() string {
		return s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(), Program: kerneltest.JSON(t,
			`{"kind":"CALL","payload":{"tool":"refund.approve","handle":true}}`)}, nil)
	}
	answer := func(a event.AnswerTask) {
		a.Tick, a.Call = 1, 1
		s.Must(event.TaskAnswer, a)
	}
	answer(event.AnswerTask{Agent: ask(), Result: value.True})
	answer(event.AnswerTask{Agent: ask(), Reject: true, Reason: "no"})
	ask()
	s.Pass(7000)
	s.Pulse()
	return s
}

// toolForgeries are lies about tools.
var toolForgeries = []untruth{
	{"another value than a person answered", logaudit.Result, "people", func(f *forgery) *written {
		r := f.nth(bus.ResultDelivered, 1, 0)
		edit(f, r, func(b *execution.DeliveredBody) { b.Answer.Value = value.False })
		return r
	}},
	{"an answer where a person gave none", logaudit.Result, "people", func(f *forgery) *written {
		r := f.nth(bus.ActionFailed, 2, 0)
		edit(f, r, func(b *tools.ActionBody) { b.Code, b.Message = "", "" })
		r.Kind = uint16(bus.ActionExecuted)
		edit(f, f.nth(bus.ResultDelivered, 2, 0), func(b *execution.DeliveredBody) {
			b.Answer = execution.Answer{Call: b.Answer.Call, OK: true, Value: value.Null}
		})
		return r
	}},
	{"a person who answers what a node was to make", logaudit.Result, "people", func(f *forgery) *written {
		edit(f, f.nth(bus.ToolRegistered, 0, 0), func(b *tools.RegisteredBody) {
			b.Manifest.Adapter = "http"
			edit(f, f.nth(bus.Event, 0, 1), func(e *event.Recorded) { e.Event.Body = event.Encode(event.RegisterTool{Manifest: *b.Manifest}) })
		})
		return f.nth(bus.ActionExecuted, 1, 0)
	}},
	{"another manifest than was asked for", logaudit.Unasked, "registering", func(f *forgery) *written {
		r := f.nth(bus.ToolRegistered, 0, 0)
		edit(f, r, func(b *tools.RegisteredBody) { b.Manifest.Adapter = "exec" })
		return r
	}},
	{"a tool that nobody took away", logaudit.Unasked, "registering", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.put(r, bus.Record{Kind: bus.ToolDeregistered, Body: &tools.DeregisteredBody{Name: "crm.put"}})
		return r
	}},
	{"another revision taken away", logaudit.Unasked, "registering", func(f *forgery) *written {
		r := f.nth(bus.ToolDeregistered, 0, 0)
		edit(f, r, func(b *tools.DeregisteredBody) { b.Revision-- })
		return r
	}},
	{"a call with a revision that is over", logaudit.Unjudged, "registering", func(f *forgery) *written {
		r := f.nth(bus.CallRequested, 2, 0)
		edit(f, r, func(b *tools.RequestedBody) { b.Revision = f.nth(bus.ToolRegistered, 0, 0).seq })
		return r
	}},
	{"a call that is said to be of a tool that is built in", logaudit.Unjudged, "registering", func(f *forgery) *written {
		r := f.nth(bus.CallRequested, 1, 0)
		edit(f, r, func(b *tools.RequestedBody) { b.Revision = 0 })
		return r
	}},
	{"judged by other arguments than the manifest names", logaudit.Unjudged, "registering", func(f *forgery) *written {
		r := f.nth(bus.CallRequested, 1, 0)
		edit(f, r, func(b *tools.RequestedBody) { b.Resource = "crm.get" })
		return r
	}},
}
