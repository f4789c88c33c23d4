package kerneltest

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// move takes an agent to a state and forgets what belonged to the one before.
func (a *agent) move(to lifecycle.State, by lifecycle.Trigger, code failure.Code) {
	a.state, a.last, a.code, a.fault = to, by, code, failure.Unclassified
	switch to {
	case lifecycle.Resumable, lifecycle.Faulted, lifecycle.Terminated:
		a.suspending = false
	}
}

// enqueue gives an agent its place, if it has something to run (EX-4).
func (n *Naive) enqueue(a *agent) {
	has := len(a.instructions) > 0
	if a.tick != nil {
		has = a.tick.ready
	}
	if a.state == lifecycle.Completing {
		has = len(a.teardown) > 0 && !a.torn && (a.tick == nil || a.tick.ready)
	} else if a.state != lifecycle.Active {
		has = false
	}
	if has {
		n.place(a)
	}
}

func (n *Naive) place(a *agent) {
	if !a.queued {
		a.queued = true
		n.queue = append(n.queue, a)
	}
}

func (n *Naive) leaveQueue(a *agent) {
	if a.queued {
		a.queued = false
		n.queue = slices.DeleteFunc(n.queue, func(q *agent) bool { return q == a })
	}
}

// activate is every way to ACTIVE: rows 2, 7, 9, 14.
func (n *Naive) activate(a *agent, by lifecycle.Trigger) {
	a.move(lifecycle.Active, by, "")
	switch {
	case a.suspending: // LC-13
		n.hibernate(a)
	case a.tick != nil && a.tick.teardown: // LC-5
		n.complete(a)
	default:
		n.enqueue(a)
	}
}

// hibernate is row 6.
func (n *Naive) hibernate(a *agent) {
	n.leaveQueue(a)
	a.move(lifecycle.Resumable, lifecycle.Suspend, "")
	n.alarm(a, timers.ResumableOver, n.config.ResumableTTLMillis, 0)
}

// complete is row 4, and row 11 of an agent without a teardown.
func (n *Naive) complete(a *agent) {
	a.move(lifecycle.Completing, lifecycle.Complete, "")
	if len(a.teardown) == 0 || a.torn {
		n.terminate(a, lifecycle.TeardownOK, "")
		return
	}
	n.enqueue(a)
}

// over follows a tick that is over for good (LC-11, FA-3).
func (n *Naive) over(a *agent) {
	switch {
	case a.state == lifecycle.Completing:
		n.terminate(a, lifecycle.TeardownOK, "")
	case !a.service && len(a.instructions) == 0:
		n.complete(a)
	default:
		n.enqueue(a)
	}
	if r := n.runOf(a); r != nil && a.state == lifecycle.Active {
		n.ticked(r)
	}
}

// fail ends the tick of an agent, if it has one, and does what the failure's
// class says (FA-1 … FA-4).
func (n *Naive) fail(a *agent, code failure.Code) {
	a.result = &result{code: code}
	class := failure.ClassOf(code)
	switch class {
	case failure.PolicyViolation:
		a.torn = a.torn || a.tick.teardown
		a.tick = nil
		n.over(a)
		return
	case failure.InvariantBreach:
		n.terminate(a, lifecycle.Breach, code)
		return
	}
	var seq uint64
	if a.tick != nil {
		a.tick.failed, a.tick.ready = true, false
		seq = a.tick.seq
	}
	if class == failure.Transient && a.retries[seq] >= n.config.MaxRetries {
		class = failure.Permanent
	}
	a.move(lifecycle.Faulted, lifecycle.Error, code)
	a.fault = class
	if class == failure.Transient {
		wait := n.config.BackoffMillis
		for range a.retries[seq] {
			wait = min(2*wait, n.config.MaxBackoffMillis)
		}
		a.retries[seq]++
		n.alarm(a, timers.BackoffOver, min(wait, n.config.MaxBackoffMillis), 0)
		return
	}
	if a.revoked == "" {
		n.voidChildren(a)
	}
	torn := a.tick != nil && a.tick.teardown && failure.ClassOf(code) == failure.Transient
	if a.parent != nil || torn || code == failure.TokenRevoked || code == failure.TokenExpired { // FA-2, LC-5, LC-10
		n.terminate(a, lifecycle.Abandon, code)
	} else if r := n.runOf(a); r != nil { // RU-2
		n.ends(r, "FAILED", "kernel", code)
		n.terminate(a, lifecycle.Abandon, code)
	}
}

// recover is rows 12 and 14, or 15 (FA-1).
func (n *Naive) recover(a *agent) {
	if t := a.tick; t != nil {
		if t.recovery != nil && !n.restores(a) {
			n.terminate(a, lifecycle.RecoveryExhausted, failure.CheckpointInvalid)
			return
		}
		n.putBack(a)
	}
	n.activate(a, lifecycle.RecoverySuccess)
}

// putBack lets the tick go on from its last exit, and ask for everything anew.
func (n *Naive) putBack(a *agent) {
	t := a.tick
	if r := a.request(t.again); r != nil && t.recovery != nil {
		n.cancel(r)
		n.close(r)
	}
	if t.recovery != nil {
		a.memory = t.memory
		t.memory = remembered(a.memory)
	}
	t.checkpoint, t.waits, t.event = t.recovery, nil, nil
	t.failed, t.ready = false, true
}

func (n *Naive) restores(a *agent) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	_, f := n.compiled(a, a.tick.program).Resume(evaluator.Context{
		MaxValueBytes: n.config.MaxValueBytes, MaxCheckpointBytes: n.config.MaxCheckpointBytes,
	}, a.tick.recovery, nil)
	return f == nil
}

// end is the composite of LC-4 and LC-10: out of whatever state.
func (n *Naive) end(a *agent, code failure.Code) {
	a.result = &result{code: code}
	n.terminate(a, lifecycle.Abandon, code)
}

// terminate is every way to TERMINATED: what the agent had is given back, what
// it delegated is void, its parent is told (DE-3, LC-8, LC-10).
func (n *Naive) terminate(a *agent, by lifecycle.Trigger, code failure.Code) {
	n.withdraw(a)
	for _, r := range slices.Clone(a.requests) {
		n.close(r)
	}
	n.leaveQueue(a)
	n.drop(func(t *alarm) bool { return t.agent == a })
	a.instructions, a.tick = nil, nil
	a.move(lifecycle.Terminated, by, code)
	n.alarm(a, timers.RetentionOver, n.config.RetentionMillis, 0)
	if a.revoked == "" {
		n.voidChildren(a)
	}
	if r := n.runOf(a); r != nil {
		n.lost(r)
	}
	r := a.from
	if r == nil || r.closed {
		return
	}
	if _, void := n.void(r.parent); void {
		return // nobody inside a revoked subtree is told
	}
	r.open--
	ok, _, _ := a.outcome()
	switch {
	case r.open == 0:
		n.join(r)
	case !ok && r.failFast && !r.cancelled:
		n.cancel(r)
	}
}

// outcome is what an agent came to: what its last tick came to, if nothing else
// ended it.
func (a *agent) outcome() (ok bool, code failure.Code, v value.Raw) {
	r := a.result
	switch {
	case a.last == lifecycle.TeardownOK && (r == nil || r.ok):
		if r == nil {
			return true, "", value.Null
		}
		return true, "", r.value
	case a.last == lifecycle.Expire && a.code == "":
		return false, failure.Expired, nil
	case a.code != "":
		return false, a.code, nil
	case r != nil:
		return false, r.code, nil
	}
	return false, failure.Expired, nil
}

// withdraw takes back what an agent waits for outside of itself.
func (n *Naive) withdraw(a *agent) {
	if a.tick == nil {
		return
	}
	for _, c := range a.tick.waits {
		if c.answer == nil {
			c.outbox, c.receives = false, false
			n.dropOf(a, c.no, timers.CallDeadline, timers.EscalationOver, timers.SleepOver, timers.ReceiveOver)
		}
	}
	n.escalations = slices.DeleteFunc(n.escalations, func(e *escalation) bool { return e.agent == a })
}

// archive makes a tombstone, once no parent waits for the outcome (LC-8).
func (n *Naive) archive(a *agent) {
	if a.from != nil && !a.from.closed {
		n.alarm(a, timers.RetentionOver, n.config.RetentionMillis, 0)
		return
	}
	a.archived = true
	a.result, a.messages, a.grants = nil, nil, nil
	a.memory = make(map[string]stored)
}
