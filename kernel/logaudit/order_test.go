package logaudit_test

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
)

// orderForgeries are lies about what operators ordered (AU-10).
var orderForgeries = []untruth{
	{"another's order", logaudit.Order, "ordering", func(f *forgery) *written {
		return f.ordered(0, event.Ordered{By: "bob", Order: event.Order{Action: "node.pause", Resource: "n1", Detail: "a new disk"}})
	}},
	{"another order", logaudit.Order, "ordering", func(f *forgery) *written {
		return f.ordered(1, event.Ordered{By: "bob", Order: event.Order{Action: "cluster.member.remove", Resource: "n3"}})
	}},
	{"an order with another detail", logaudit.Order, "ordering", func(f *forgery) *written {
		return f.ordered(0, event.Ordered{By: "ann", Order: event.Order{Action: "node.pause", Resource: "n1"}})
	}},
	{"an order that nobody gave", logaudit.Order, "stopped", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1)
		f.put(r, bus.Record{Kind: bus.OperatorOrdered, Body: &event.Ordered{By: "ann", Order: event.Order{Action: "node.pause", Resource: "n1"}}})
		return r
	}},
}

// ordered puts another order in the place of one.
func (f *forgery) ordered(nth int, body event.Ordered) *written {
	r := f.nth(bus.OperatorOrdered, 0, nth)
	f.put(r, bus.Record{Kind: bus.OperatorOrdered, Body: &body})
	return r
}
