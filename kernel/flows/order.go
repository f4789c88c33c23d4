package flows

import (
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// Limits of an order.
const (
	maxOrderAction   = 64  // bytes
	maxOrderResource = 256 // bytes
)

// Order decides an OperatorOrder event: it is on record, with whoever gave it, and what
// is done then is the nodes' business (AU-10). Whether that one may give it was judged
// before, as of every command.
func Order(_ View, cmd *event.Order, by string, out *bus.Batch) *Refusal {
	if r := CheckOrder(cmd); r != nil {
		return &Refusal{Refusal: *r}
	}
	out.Add(bus.Record{Kind: bus.OperatorOrdered, Body: &event.Ordered{By: by, Order: *cmd}})
	return nil
}

// orderActions are what the actions of orders begin with. Those of commands are not
// among them: an order cannot stand in the log for a command that nobody gave.
var orderActions = []string{"cluster.member.", "cluster.transfer", "node.", "backup."}

// CheckOrder holds the rules of an order.
func CheckOrder(cmd *event.Order) *failure.Refusal {
	known := func(prefix string) bool { return strings.HasPrefix(cmd.Action, prefix) }
	if len(cmd.Action) > maxOrderAction || !slices.ContainsFunc(orderActions, known) || principals.CheckName("", cmd.Action) != nil {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: "action", Rule: "must be an action of nodes, such as node.pause"}
	}
	if cmd.Resource == "" || len(cmd.Resource) > maxOrderResource {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: "resource", Rule: "must be 1 to 256 bytes of printable text"}
	}
	if r := principals.CheckDescription("resource", cmd.Resource); r != nil {
		return r
	}
	return principals.CheckDescription("detail", cmd.Detail)
}
