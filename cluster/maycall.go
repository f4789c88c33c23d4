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
	switch r.dispatch(ctx, []*tools.Call{call}, term)[0] {
	case dispatched:
		return true, nil
	case wasted: // say so, since nobody else may call it
		result := notMade(call)
		return false, &result
	}
	return false, nil
}
