package logaudit_test

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
)

// stopForgeries are lies about the emergency stop (NO-2).
var stopForgeries = []untruth{
	{"a tick of a suspended kernel", logaudit.Suspended, "stopped", func(f *forgery) *written {
		f.swap(f.nth(bus.KernelResumed, 0, 0), f.nth(bus.TimerSet, 1, 1))
		return f.nth(bus.TickStarted, 1, 1)
	}},
	{"a dispatch of a suspended kernel", logaudit.Suspended, "stopped", func(f *forgery) *written {
		f.put(f.nth(bus.TimerSet, 1, 1), order(bus.KernelSuspended))
		f.put(f.nth(bus.TimerCleared, 1, 1), order(bus.KernelResumed))
		return f.nth(bus.CallDispatched, 1, 0)
	}},
	{"a deadline that rings in a suspended kernel", logaudit.Suspended, "stopped", func(f *forgery) *written {
		rings := f.nth(bus.TimerCleared, 1, -1)
		f.put(f.nth(bus.TimerSet, 1, -1), order(bus.KernelSuspended))
		f.put(f.nth(bus.TickScheduled, 1, -1), order(bus.KernelResumed))
		return rings
	}},
	{"a kernel that is suspended twice", logaudit.Suspended, "stopped", func(f *forgery) *written {
		r := f.nth(bus.TimerCleared, 1, 0)
		f.put(r, order(bus.KernelSuspended))
		return r
	}},
	{"a kernel that is resumed and runs", logaudit.Suspended, "stopped", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1)
		f.put(r, order(bus.KernelResumed))
		return r
	}},
}

// order is somebody's order to suspend or to resume.
func order(kind bus.Kind) bus.Record {
	return bus.Record{Kind: kind, Body: &estop.Order{By: "ann", Reason: "why"}}
}
