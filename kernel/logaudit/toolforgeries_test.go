package logaudit_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/tools"
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

// toolForgeries are lies about tools.
var toolForgeries = []untruth{
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
