package cluster

import (
	"context"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// permit says whether a call that must not be made twice may be made now.
type permit uint8

const (
	notDispatched permit = iota // not by us, as far as is known: the outbox tells what to do
	dispatched                  // it may be made
	wasted                      // it is dispatched, and was not made, and nobody may make it any more
)

// dispatch commits that calls are about to be made, all together, and says of each
// whether it may be made (TO-4).
func (r *runner) dispatch(ctx context.Context, calls []*tools.Call, term uint64) []permit {
	permits := make([]permit, len(calls))
	events := make([]event.Event, len(calls))
	for i, call := range calls {
		events[i] = event.Event{
			Kind: event.ToolDispatched, Principal: "node:" + r.n.config.NodeID,
			Body: event.Encode(event.Dispatched{
				Agent: call.Key.Agent, Tick: call.Key.Tick, Call: call.Key.Call, Node: r.n.config.NodeID, Term: term,
			}),
		}
	}
	some := false
	for i, answer := range r.n.ProposeAll(ctx, events) {
		if answer.Verdict == Applied && answer.Outcome.Done() {
			permits[i], some = wasted, true
		}
	}
	if !some {
		return permits
	}
	// A pause of the process between the dispatch and the call is what the
	// confirmation is for.
	if _, err := r.n.group.ReadIndex(ctx); err != nil {
		return permits
	}
	state := r.n.fsm.State()
	for i, call := range calls {
		if permits[i] == notDispatched {
			continue
		}
		// The kernel judges authority once more when it takes the dispatch in (TO-5): a
		// call that it withdrew is not in the outbox any more.
		permits[i] = notDispatched
		if now, pending := state.Tools.Get(call.Key); pending && now.Dispatched != 0 && now.Term == term {
			permits[i] = dispatched
		}
	}
	return permits
}
