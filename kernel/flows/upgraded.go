package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Upgraded decides a KernelUpgraded event: the cluster goes one kernel version
// further, and never back (EV-9). A binary that does not know the version never
// comes here: it stops before it applies the event.
func Upgraded(v View, cmd *event.Upgraded, out *bus.Batch) *Refusal {
	if next := v.Version() + 1; cmd.Version != next {
		return refuse(failure.InvalidArgument, "version", "must be "+strconv.FormatUint(uint64(next), 10)+": the kernel version rises by one at a time")
	}
	if r := config.CheckLogBytes(cmd.LogWarnBytes, cmd.LogErrorBytes); r != nil {
		return &Refusal{Refusal: *r}
	}
	out.Add(bus.Record{Kind: bus.KernelUpgraded, Body: cmd})
	return nil
}

// TooEarly refuses a command that came with a later kernel version than the one
// that holds. Nodes do not propose it before (EV-9).
func TooEarly(v View, e *event.Event) *Refusal {
	if e.Kind.Since() <= v.Version() {
		return nil
	}
	return refuseHint(failure.VersionTooLow, "", "the command came with kernel version "+strconv.FormatUint(uint64(e.Kind.Since()), 10)+
		", and the cluster is at "+strconv.FormatUint(uint64(v.Version()), 10), "upgrade the nodes that hold it there: omni cluster status shows which")
}
