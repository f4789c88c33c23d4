//go:build !planted_undispatched

package cluster

import (
	"context"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// mayCall makes sure that the adapter may be called now: for a call that must
// not run twice its dispatch is committed in this term; for any other this
// node must still lead. A pause of the process between that and the call is
// what the confirmation is for. instead is the call's result when it was dispatched and
// must not be made any more.
func (r *runner) mayCall(ctx context.Context, call *tools.Call, term uint64) (may bool, instead *event.Result) {
	if call.Idempotent {
		return ctx.Err() == nil, nil
	}
	answer := r.n.Propose(ctx, event.Event{
		Kind: event.ToolDispatched, Principal: "node:" + r.n.config.NodeID,
		Body: event.Encode(event.Dispatched{
			Agent: call.Key.Agent, Tick: call.Key.Tick, Call: call.Key.Call, Node: r.n.config.NodeID, Term: term,
		}),
	})
	if answer.Verdict != Applied || !answer.Outcome.Done() {
		return false, nil
	}
	_, err := r.n.group.ReadIndex(ctx)
	if err == nil {
		// The kernel judges authority once more when it takes the dispatch in
		// (TO-5): a call that it withdrew is not in the outbox any more.
		now, pending := r.n.fsm.State().Tools.Get(call.Key)
		return pending && now.Dispatched != 0 && now.Term == term, nil
	}
	// Dispatched, and not called: say so, since nobody else may call it.
	result := notMade(call)
	return false, &result
}
