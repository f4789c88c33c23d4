package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// Order is what somebody wants of a node's lifecycle: Pause, Estop, Resume or, for
// a restart, Shutdown.
type Order struct {
	Trigger nodestate.Trigger
	Reason  string
	DryRun  bool // only say what would come of it

	Principal string // of whoever gave it
	BusSeq    uint64 // where it is in the execution log; 0: it is not there
}

// Ordered is what came of an order, or would.
type Ordered struct {
	State    nodestate.State
	Leading  bool // the node leads: it would hand leadership over, or nobody has taken it yet
	UnderWay UnderWay
}

// UnderWay is what a node has begun and not ended.
type UnderWay struct {
	Commands int // proposed, and not answered
	Calls    int // external calls that its tool runner has begun
}

// ErrNotKept says that an order was carried out, and is not on disk: a restart
// would forget it.
var ErrNotKept = errors.New("it is done, but not on disk: a restart would forget it")

var errNoRestart = errors.New("nothing runs this node that could restart it")

// handOverAgain is how long a suspended leader waits before it tries once more.
const handOverAgain = time.Second

// Order asks for a transition of the node, in an operator's name. A leader that is
// to pause hands leadership over first, and is not paused when nobody takes it. An
// emergency stop closes intake at once and hands over then. The error is a
// *nodestate.Refusal or a *consensus.Refusal: nothing has changed.
func (n *Node) Order(ctx context.Context, o Order) (Ordered, error) {
	refusal := n.state.Try(o.Trigger)
	switch {
	case o.DryRun && refusal != nil:
		return Ordered{}, refusal
	case o.DryRun:
		return n.ordered(), nil
	case refusal == nil && o.Trigger == nodestate.Pause:
		if err := n.HandOver(ctx); err != nil {
			return Ordered{}, err
		}
	}
	return n.carryOut(ctx, o)
}

// carryOut makes the transition, and waits until it is kept.
func (n *Node) carryOut(ctx context.Context, o Order) (Ordered, error) {
	if o.Trigger == nodestate.Shutdown {
		return n.ordered(), n.config.restart(o)
	}
	if refusal := n.state.Transition(o.Trigger, operator(o)); refusal != nil {
		return Ordered{}, refusal
	}
	if n.config.Journal != nil {
		if err := n.config.Journal.Sync(ctx); err != nil {
			return n.ordered(), fmt.Errorf("%w: %w", ErrNotKept, err)
		}
	}
	return n.ordered(), nil
}

func (c *Config) restart(o Order) error {
	if c.Restart == nil {
		return errNoRestart
	}
	c.Restart(operator(o))
	return nil
}

// Order of a node in safe mode: it may be restarted, and nothing else.
func (h *Held) Order(_ context.Context, o Order) (Ordered, error) { return h.config.order(o) }

// order is for a node that is not open.
func (c *Config) order(o Order) (Ordered, error) {
	refusal := c.State.Try(o.Trigger)
	if refusal != nil && !o.DryRun {
		refusal = c.State.Transition(o.Trigger, operator(o)) // on record
	}
	switch {
	case refusal != nil:
		return Ordered{}, refusal
	case o.Trigger == nodestate.Shutdown && !o.DryRun:
		return Ordered{State: c.State.State()}, c.restart(o)
	}
	return Ordered{State: c.State.State()}, nil
}

// UnderWay of a node in safe mode is nothing.
func (h *Held) UnderWay() UnderWay { return UnderWay{} }

func operator(o Order) nodestate.Cause {
	return nodestate.Cause{By: "operator", Text: o.Reason, Principal: o.Principal, BusSeq: o.BusSeq}
}

func (n *Node) ordered() Ordered {
	return Ordered{State: n.state.State(), Leading: n.leading(), UnderWay: n.UnderWay()}
}

// UnderWay counts what the node has begun and not ended.
func (n *Node) UnderWay() UnderWay {
	return UnderWay{Commands: n.group.Status().Open, Calls: n.runner.underWay()}
}

func (n *Node) leading() bool {
	leader, known := n.Leader()
	return known && leader.ID == n.config.NodeID
}

// HandOver gives leadership away, if this node has it, to the best follower.
func (n *Node) HandOver(ctx context.Context) error {
	if !n.leading() {
		return nil
	}
	return n.group.Transfer(ctx, "")
}

// standAside hands over what a suspended node was elected to, again and again:
// as long as nobody takes it, it leads and does nothing.
func (n *Node) standAside(ctx context.Context) {
	n.logger.Warn("this node is suspended: it hands leadership over")
	told := ""
	for changed := n.state.Changed(); ctx.Err() == nil && n.suspended(); changed = n.state.Changed() {
		if !n.handsOver(ctx, &told) {
			return
		}
		timer := time.NewTimer(handOverAgain)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-changed:
		}
		timer.Stop()
	}
}

// handsOver tries once to hand leadership over, and says why that failed unless it was
// told the same before; false when there is nothing left to hand over.
func (n *Node) handsOver(ctx context.Context, told *string) (stillLeads bool) {
	err := n.group.Transfer(ctx, "")
	if err == nil || ctx.Err() != nil {
		return false
	}
	if said := err.Error(); said != *told {
		*told = said
		n.logger.Error("leadership could not be handed over, and it is tried again and again", "error", err)
	}
	return true
}

// suspended tells whether the node must not do what a leader does.
func (n *Node) suspended() bool { return n.state.State() == nodestate.Suspended }

// untilSuspended waits until the node is suspended, or the context ends.
func (n *Node) untilSuspended(ctx context.Context) {
	for changed := n.state.Changed(); !n.suspended(); changed = n.state.Changed() {
		select {
		case <-ctx.Done():
			return
		case <-changed:
		}
	}
}

// drain waits until the external calls that the node has begun are over and their
// results handed in, or the time for that is.
func (n *Node) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, n.config.Drain)
	defer cancel()
	for ctx.Err() == nil && n.runner.underWay() > 0 {
		pause(ctx, drainLook)
	}
	if left := n.runner.underWay(); left > 0 {
		n.logger.Warn("calls were still under way when the time to end them was over", "calls", left)
	}
}

const drainLook = 10 * time.Millisecond

// underWay counts the calls that have begun and whose results nobody has yet.
func (r *runner) underWay() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.running)
}
