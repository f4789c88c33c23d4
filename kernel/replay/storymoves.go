package replay

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// asked is the command of the block in hand, if it is of that kind.
func asked[T any](s *story, kind event.Kind) *T {
	if s.event == nil || s.event.Kind != kind {
		return nil
	}
	cmd, _ := event.DecodeBody[T](s.event.Body)
	return cmd
}

// order is a client's command about the run.
type order struct {
	trigger runs.Trigger
	cause   runs.Cause
	reason  string
	force   bool
}

// order is what the event of the block in hand asks of this run; nil for nothing.
func (s *story) order() *order {
	var run, trigger string
	o := order{}
	if cmd := asked[event.StartRun](s, event.RunStart); cmd != nil {
		run, o = cmd.Run, order{trigger: runs.Start, reason: cmd.Reason}
	} else if cmd := asked[event.PauseRun](s, event.RunPause); cmd != nil {
		run, trigger, o = cmd.Run, cmd.Trigger, order{trigger: runs.Pause, reason: cmd.Reason, force: cmd.Force}
	} else if cmd := asked[event.ResumeRun](s, event.RunResume); cmd != nil {
		run, trigger, o = cmd.Run, cmd.Trigger, order{trigger: runs.Resume, reason: cmd.Reason}
	} else if cmd := asked[event.KillRun](s, event.RunKill); cmd != nil {
		run, trigger, o = cmd.Run, cmd.Trigger, order{trigger: runs.Kill, reason: cmd.Reason}
	}
	id, ok := flows.ParseID(run)
	if !ok || id != s.id {
		return nil
	}
	if o.cause, ok = runs.ParseCause(trigger); !ok {
		return nil
	}
	return &o
}

// asks reports whether the event asks the run for that.
func (s *story) asks(trigger runs.Trigger) bool {
	o := s.order()
	return o != nil && o.trigger == trigger
}

// moved holds a transition of the run against the table, where it is, and against what
// the log says that led to it.
func (s *story) moved(r *logging.Record, run *runs.Run, e *runs.Event) error {
	to, edge := runs.Decide(run.State, e.Trigger)
	switch {
	case e.From != run.State:
		return s.deviates("the transition does not start where the run is", r, nil)
	case !edge || to != e.To:
		return s.deviates("the table of runs has no such transition", r, nil)
	case len(s.path) > 0:
		if s.path[0] != e.Trigger {
			return s.deviates("the run stops between two transitions of one request", r, nil)
		}
		s.path = s.path[1:]
	case !s.request(run, e):
		return s.deviates("nothing in the log leads to this transition of the run", r, nil)
	case e.To.Over() && run.Running != 0:
		return s.deviates("the run is over, and its task is in progress", r, nil)
	case s.proof.broken != "" && e.Code != s.proof.broken:
		return s.deviates("the run fails otherwise than its task", r, nil)
	}
	s.proof.readied = s.proof.readied || e.Trigger == runs.Ready
	s.tables.ApplyTransition(s.run, s.at, e)
	return nil
}

// request finds what was asked of the run that begins with the transition, and notes
// the edges that follow it.
func (s *story) request(run *runs.Run, e *runs.Event) bool {
	for _, trigger := range [...]runs.Trigger{e.Trigger, runs.Fail, runs.Kill} {
		path := runs.Path(run.State, trigger)
		if len(path) > 0 && path[0] == e.Trigger && s.leads(run, trigger, e) {
			s.path = path[1:]
			return true
		}
	}
	return false
}

// leads reports whether the block in hand has what leads to such a request.
func (s *story) leads(run *runs.Run, trigger runs.Trigger, e *runs.Event) bool {
	o := s.order()
	ordered := o != nil && o.trigger == trigger && o.cause == e.Cause && (o.reason == e.Reason || trigger == runs.Kill && o.reason == "")
	p := &s.proof
	switch trigger {
	case runs.Ready:
		given := run.Planner == 0
		return p.planned && (e.Cause == runs.Operator) == given && (e.Cause == runs.Kernel) != given
	case runs.Start:
		return ordered || p.readied && run.AutoStart && e.Cause == runs.Kernel
	case runs.Pause:
		return ordered && (o.force || !e.Forced) || run.Pausing != 0 && run.Running == 0 && e.Cause == run.Pausing && !e.Forced ||
			p.warned && e.Cause == runs.Budget
	case runs.Resume:
		return ordered
	case runs.Complete:
		return e.Cause == runs.Kernel && run.Running == 0 && len(run.Tasks) > 0 && int(run.Done) == len(run.Tasks)
	case runs.Fail:
		return s.fails(run, e)
	}
	return ordered || p.fell && (e.Cause == runs.Operator && p.over == failure.Killed || e.Cause == runs.Security && p.over == failure.TokenRevoked)
}

// fails reports whether the block in hand has what makes the run fail so.
func (s *story) fails(run *runs.Run, e *runs.Event) bool {
	p := &s.proof
	switch {
	case e.Cause == runs.Budget:
		return p.exceeded
	case e.Cause != runs.Kernel:
		return false
	case e.Code == failure.InvalidPlan:
		return run.State == runs.Planning && p.completed
	case p.fell, p.tooLarge && e.Code == failure.ValueTooLarge:
		return true
	}
	return p.blocked != "" && e.Code == p.blocked || p.completed && e.Code == failure.ValueTooLarge
}

// pausing holds a pause that takes effect later, or is taken back, against what was
// asked for.
func (s *story) pausing(r *logging.Record, run *runs.Run, b *runs.PauseBody) error {
	o := s.order()
	good := o != nil && o.reason == b.Reason
	if b.Cause == 0 {
		good = good && o.trigger == runs.Resume && run.Pausing != 0
	} else {
		good = good && o.trigger == runs.Pause && o.cause == b.Cause || s.proof.warned && b.Cause == runs.Budget
		good = good && run.Pausing == 0 && (run.State == runs.Planning || run.State == runs.Applying && run.Running != 0)
	}
	if !good {
		return s.deviates("nothing in the log leads to this pause of the run", r, nil)
	}
	s.tables.ApplyPause(s.run, b)
	return nil
}
