package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Restored decides a ClusterRestored event: the state, the log behind it, its
// agents and their sessions go on as another cluster's (EV-17). Whoever asks for
// it says what was restored, so that what comes too late, comes twice, or is about
// another backup changes nothing.
func Restored(v View, cmd *event.Restored, out *bus.Batch) *Refusal {
	switch {
	case cmd.From != v.Config.ClusterID:
		return refuse(failure.InvalidArgument, "from", "the state is not of that cluster")
	case cmd.To == cmd.From:
		return refuse(failure.InvalidArgument, "to", "must be another cluster than the one that was backed up")
	case cmd.Index != v.Log.LastIndex || cmd.Chain != v.Log.Chain:
		return refuse(failure.InvalidArgument, "index", "the log does not end there")
	}
	if r := config.CheckClusterID(cmd.To); r != nil {
		return &Refusal{Refusal: *r}
	}
	out.Add(bus.Record{Kind: bus.ClusterRestored, Body: cmd})
	return nil
}
