package cluster

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// handInFor is how long a result is offered to whoever leads.
const handInFor = 30 * time.Second

// later keeps a result that this node's term did not take. The call counts as running
// until somebody has it.
func (r *runner) later(out event.Result) {
	r.mu.Lock()
	r.late = append(r.late, out)
	r.mu.Unlock()
	r.overdue.stir()
}

func (r *runner) takeLate() []event.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := r.late
	r.late = nil
	return late
}

// handOn offers late results to whoever leads, all at once, until the context ends.
func (r *runner) handOn(ctx context.Context) {
	jobs, ctx := supervise.NewGroup(ctx)
	jobs.Go(func() {
		for ctx.Err() == nil {
			for _, out := range r.takeLate() {
				jobs.Go(func() { r.handOnOne(ctx, out) })
			}
			select {
			case <-ctx.Done():
			case <-r.overdue:
			}
		}
	})
	jobs.Wait()
}

// handOnOne lets go of a result when somebody has it or nobody took it in time, and
// also when that panics: it must not end whoever begins anew. One that the end of the
// context came in between of is kept.
func (r *runner) handOnOne(ctx context.Context, out event.Result) {
	kept := false
	defer func() {
		if !kept {
			r.release(keyOf(out))
		}
	}()
	if !r.handIn(ctx, out) && ctx.Err() != nil {
		kept = true
		r.later(out)
	}
}

// handIn gives a result to whoever leads; false when nobody took it in time. A result
// that is already there, or too late, is recorded as stale and changes nothing
// (INV-19).
func (r *runner) handIn(ctx context.Context, out event.Result) bool {
	ctx, cancel := context.WithTimeout(ctx, handInFor)
	defer cancel()
	for ctx.Err() == nil && !r.n.stopping.Load() {
		if !r.wanted(out) || r.n.Propose(ctx, r.eventOf(out)).Verdict == Applied {
			return true
		}
		if leader, ok := r.n.Leader(); ok && leader.ID != r.n.config.NodeID {
			answer, err := r.n.config.Calls.Call(ctx, leader.Raft, peerHandIn, event.Encode(out))
			if err == nil && len(answer) == 1 && Verdict(answer[0]) == Applied {
				return true
			}
		}
		pause(ctx, 20*time.Millisecond)
	}
	return false
}

// wanted reports whether a result still means something: to its agent, or to the
// account that the call was reserved in (RU-3).
func (r *runner) wanted(out event.Result) bool {
	state := r.n.fsm.State()
	if _, pending := state.Tools.Get(keyOf(out)); pending {
		return true
	}
	_, open := state.Budgets.Reservation(budgets.Key{Agent: out.Agent, Tick: out.Tick, Call: out.Call})
	return open
}
