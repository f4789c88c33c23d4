package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/timers"
)

// halted looks at KERNEL_SUSPENDED and KERNEL_RESUMED: by turns.
func (a *Auditor) halted() {
	suspends := a.record.Kind == bus.KernelSuspended
	switch {
	case suspends && a.stopped:
		a.found(Suspended, "the kernel is suspended, and was suspended before")
	case !suspends && !a.stopped:
		a.found(Suspended, "the kernel is resumed, and was not suspended")
	}
	a.stopped = suspends
}

// whileSuspended looks at an agent's record while the kernel is suspended.
func (a *Auditor) whileSuspended() {
	switch a.record.Kind {
	case bus.TickStarted:
		a.found(Suspended, "tick %d starts while the kernel is suspended", a.record.Tick)
	case bus.CallDispatched:
		a.found(Suspended, "a call is dispatched while the kernel is suspended")
	case bus.TimerCleared:
		if cleared, ok := a.record.Body.(*timers.Cleared); ok && cleared.Fired {
			a.found(Suspended, "the deadline %d rings while the kernel is suspended", cleared.Deadline)
		}
	}
}
