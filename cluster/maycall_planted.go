//go:build planted_undispatched

package cluster

import (
	"context"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// mayCall is wrong on purpose: it takes every call for one that may be made
// twice. The simulation must notice (jepsen/README.md).
func (*runner) mayCall(ctx context.Context, _ *tools.Call, _ uint64) (may bool, instead *event.Result) {
	return ctx.Err() == nil, nil
}
