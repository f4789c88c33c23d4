package replay

import (
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// evaluate runs the tick that begins with the record.
func (in *place) evaluate(r *logging.Record, rest logging.Records) {
	in.run.Reset()
	in.next = 0
	view := in.slice.View(r.Seq)
	if in.slice.Row().Delegation.Parent != 0 {
		view.Above = voided(rest)
	}
	flows.Tick(view, in.no, &in.run)
	in.stats.Runs++
	if started, ok := in.run.Records()[0].Body.(*execution.StartedBody); ok && started.Run == 1 {
		in.stats.Ticks++
	}
}

// runnable reports whether the agent has a tick to run, or to go on with.
func (in *place) runnable() bool {
	row := in.slice.Row()
	switch {
	case row == nil:
		return false
	case row.Lifecycle.State == lifecycle.Completing && row.Execution.Current == nil:
		return row.Identity.Teardown != 0
	case row.Lifecycle.State == lifecycle.Completing:
		return row.Execution.Runnable()
	}
	return row.Execution.Runnable()
}

// voided is the code by which the agents above made a run fail at once: theirs
// is what the record says, since their own records are elsewhere.
func voided(rest logging.Records) failure.Code {
	if !rest.Next() || bus.Kind(rest.Record.Kind) != bus.TickFailed {
		return ""
	}
	body, ok := execution.DecodeFailed(rest.Record.Body)
	if !ok || body.Failure.Code != failure.TokenRevoked && body.Failure.Code != failure.TokenExpired {
		return ""
	}
	return body.Failure.Code
}

// leaves reports whether the record, which gives a place in the global queue
// back, is a tick that came up and could not run: its failure follows at once.
func leaves(r *logging.Record, rest logging.Records) bool {
	if voided(rest) == "" {
		probe := rest
		if !probe.Next() || bus.Kind(probe.Record.Kind) != bus.TickFailed {
			return false
		}
		body, ok := execution.DecodeFailed(probe.Record.Body)
		if !ok || body.Failure.Code != failure.InvalidState {
			return false
		}
	}
	return rest.Next() && rest.Record.Agent == r.Agent
}

// breaks reports whether the log says that the record which was made would have
// broken an invariant: it was dropped, with the rest of the run (FA-4).
func breaks(r *logging.Record, rest logging.Records, made *bus.Record) bool {
	if bus.Kind(r.Kind) == bus.ChildrenRevoked && r.Agent == made.Agent && rest.Next() {
		r = &rest.Record
	}
	if bus.Kind(r.Kind) != bus.Audit || r.Agent != made.Agent {
		return false
	}
	breach, ok := audit.Decode(r.Body)
	return ok && breach.Kind == uint16(made.Kind)
}

// exitOf is the record that ended a run. Nothing but what it gives back follows.
func exitOf(run []bus.Record) bus.Record {
	for i := len(run) - 1; i > 0; i-- {
		if run[i].Kind != bus.Released {
			return run[i]
		}
	}
	return run[0]
}

// demands notes the transition that a record makes the agent take.
func (in *place) demands(made bus.Record, seq uint64) {
	if demanded, ok := flows.Demanded(in.slice.View(seq+1), made, &in.room); ok {
		in.demand = demanded
	}
}

// transition holds a transition against the table, where the agent is, and what
// was demanded (SM-INV-05).
func (in *place) transition(r *logging.Record) error {
	row := in.slice.Row()
	if row == nil {
		return in.slice.Take(r) // which says what is wrong
	}
	in.stats.Transitions++
	demanded := in.demand
	in.demand = bus.Record{}
	if demanded.Kind != 0 && in.difference(r, &demanded) == "" {
		in.stats.Compared++
		if err := in.slice.Apply(r.Seq, demanded); err != nil {
			return err
		}
		in.demands(demanded, r.Seq)
		return nil
	}
	e, ok := lifecycle.DecodeEvent(r.Body)
	if !ok {
		return in.slice.Take(r)
	}
	to, allowed := lifecycle.Decide(row.Lifecycle.State, e.Trigger, e.Caller)
	what := ""
	switch {
	case e.From != row.Lifecycle.State:
		what = "the transition does not start where the agent is"
	case !allowed:
		what = "the table has no such transition for this caller"
	case e.To != to:
		what = "the table leads elsewhere"
	case demanded.Kind != 0:
		what = "a tick's exit demands another transition"
	default:
		return in.slice.Apply(r.Seq, bus.Record{Kind: bus.Lifecycle, Agent: r.Agent, Tick: r.Tick, Step: r.Step, Body: e})
	}
	var made *bus.Record // what should stand there, where that is known
	if demanded.Kind != 0 {
		made = &demanded
	} else if allowed {
		mended := *e
		mended.From, mended.To = row.Lifecycle.State, to
		made = &bus.Record{Kind: bus.Lifecycle, Agent: in.no, Tick: r.Tick, Step: r.Step, Body: &mended}
	}
	return in.deviation(what, r, made)
}
