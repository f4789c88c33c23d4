package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Naive is a second model of the whole kernel: plain structs, slices and maps,
// written from the sentences of docs/semantics.md, and none of the kernel's
// flows or tables. It takes the same events and says what they come to. It has
// no log, no records, no snapshots, and no bound on the work of one event:
// whatever an event causes happens at once, by calling it.
//
// It shares with the kernel the evaluators, the encoding of values, the tools'
// manifests and the table of failure classes. Some things it is told: the
// versions that memory gave, the numbers of escalations and the revisions of
// tools, which are places in the log, and how long records are. What sessions and idempotency keys answer it does not know.
type Naive struct {
	config *config.Config
	lookup func(string) (evaluator.Evaluator, bool)
	clock  int64

	agents      []*agent
	runs        []*run
	shared      map[string]map[string]stored
	tools       map[string]tools.Revision // that are registered
	timers      []*alarm                  // in order of making
	made        int
	escalations []*escalation // open, the oldest first
	queue       []*agent
	cascades    []cascade
	stopped     bool // the kernel is suspended (NO-2)
	programs    map[string]evaluator.Program

	versions []uint64 // that the kernel's log gives to writes, in order
	revision uint64   // … and to the registration of a tool
	numbers  []uint64 // … and to escalations
}

type agent struct {
	no        uint32
	id        identity.ID
	name      string
	evaluator string
	service   bool
	program   value.Raw
	teardown  value.Raw
	env       value.Raw
	grants    []permissions.Grant
	maxDepth  uint32
	ttl       int64

	state      lifecycle.State
	fault      failure.Class
	last       lifecycle.Trigger // that led to state
	code       failure.Code      // why, if a failure was the reason
	suspending bool
	archived   bool

	parent   *agent
	children []*agent
	from     *request // what made it
	depth    uint32
	expires  int64
	token    bool
	revoked  failure.Code
	voided   failure.Code // by its parent, with all children of that time

	instructions []instruction
	lastTick     uint64
	tick         *tick
	result       *result
	torn         bool
	retries      map[uint64]uint32
	requests     []*request // open ones
	queued       bool

	memory   map[string]stored
	messages []value.Raw

	logged           uint64 // bytes of the log about it
	warned, exceeded bool   // … have come to the limits
}

type instruction struct{ program, input value.Raw }

// result is how a tick ended.
type result struct {
	ok    bool
	value value.Raw
	code  failure.Code
}

type stored struct {
	value   value.Raw
	version uint64
}

// tick is a tick that is not over.
type tick struct {
	seq            uint64
	program, input value.Raw
	teardown       bool
	steps, calls   uint32
	ready          bool // has what it needs to run
	failed         bool
	checkpoint     []byte
	waits          []*call // of the last exit
	event          value.Raw

	recovery []byte // the checkpoint of the last exit
	again    uint32 // … the first of its calls
	memory   map[string]stored
}

// call is one request of a tick: open until it has its answer.
type call struct {
	no         uint32
	tool       string
	args       value.Raw
	timeout    int64
	resource   string
	revision   uint64 // of a registered tool
	outbox     bool
	dispatched bool
	receives   bool
	limited    bool
	answer     *evaluator.Answer
}

type escalation struct {
	number   uint64
	agent    *agent
	tick     uint64
	call     *call
	action   string
	resource string
	handler  *agent
	offered  bool
}

// request is one request for children.
type request struct {
	parent    *agent
	tick      uint64
	call      uint32
	children  []*agent
	open      int
	failFast  bool
	handler   bool
	cancelled bool
	closed    bool
}

// cascade is a walk that is to be done: over what is below an agent, or over
// the children of a request.
type cascade struct {
	below *agent
	of    *request
	code  failure.Code
}

type alarm struct {
	no       int
	deadline int64
	purpose  timers.Purpose
	agent    *agent
	tick     uint64
	call     uint32
}

// NewNaive is the model before its first event.
func NewNaive(lookup func(string) (evaluator.Evaluator, bool)) *Naive {
	return &Naive{lookup: lookup, shared: make(map[string]map[string]stored), tools: make(map[string]tools.Revision), programs: make(map[string]evaluator.Program)}
}

// Told is what the model cannot know by itself, from the event's block.
type Told struct {
	Versions, Escalations []uint64
	Revision              uint64
	Before                logging.Point     // index and chain value of the block before
	Records, Marks        map[uint32]uint64 // bytes of the records about each agent that count; of those that say how many there are
}

// Answer is what an event comes to: done, or refused with one of the codes of
// the rules that it breaks. Which of them is named is not the model's to say.
type Answer struct {
	Refusals []failure.Code
	Agent    *identity.ID
	State    lifecycle.State
}

// Apply takes one event in (EV-6): timers that are due, then the event, then
// ticks; what each causes comes before the next.
func (n *Naive) Apply(e *event.Event, told Told) Answer {
	n.clock = max(n.clock, e.Wall)
	n.versions, n.numbers, n.revision = told.Versions, told.Escalations, told.Revision
	if n.config != nil && !n.stopped {
		n.fire()
	}
	answer := n.decide(e, told)
	n.walk()
	for len(n.queue) > 0 && !n.stopped {
		a := n.queue[0]
		n.queue, a.queued = n.queue[1:], false
		n.run(a)
		n.walk()
	}
	n.measure(told)
	return answer
}

// measure adds up what the event wrote about each agent; one that is over comes to no
// limit any more (LS-1, LS-2).
func (n *Naive) measure(told Told) {
	for _, a := range n.agents {
		a.logged += told.Records[a.no]
		if told.Records[a.no] > 0 && a.state != lifecycle.Terminated {
			a.warned = a.warned || a.logged >= n.config.LogWarnBytes
			a.exceeded = a.exceeded || a.logged >= n.config.LogErrorBytes
		}
		a.logged += told.Marks[a.no]
	}
}

// fire lets every timer ring that is due and was made before (EV-6).
func (n *Naive) fire() {
	made := n.made
	for {
		var next *alarm
		for _, t := range n.timers {
			if t.deadline <= n.clock && t.no <= made && (next == nil || t.deadline < next.deadline) {
				next = t
			}
		}
		if next == nil {
			return
		}
		n.drop(func(t *alarm) bool { return t == next })
		n.ring(next)
		n.walk()
	}
}

func (n *Naive) ring(t *alarm) {
	a := t.agent
	switch t.purpose {
	case timers.CallDeadline:
		if c := a.waiting(t.call); c.dispatched { // TO-4
			n.fails(a, c, failure.OutcomeUnknown)
			return
		}
		n.timeout(a, t.call)
	case timers.SleepOver:
		n.succeeds(a, a.waiting(t.call), value.Null)
	case timers.ReceiveOver:
		if c := a.waiting(t.call); c.limited {
			n.fails(a, c, failure.WaitTimeout)
			return
		}
		n.timeout(a, t.call)
	case timers.ResumableOver: // row 10
		n.terminate(a, lifecycle.Expire, failure.Expired)
	case timers.RetentionOver:
		n.archive(a)
	case timers.BackoffOver:
		n.recover(a)
	case timers.EscalationOver: // PE-3
		for _, e := range n.escalations {
			if e.agent == a && e.call.no == t.call {
				n.settle(e)
				n.fails(a, e.call, failure.PermissionDenied)
				return
			}
		}
	case timers.DelegationOver:
		if a.state == lifecycle.Waiting && a.waiting(t.call) != nil {
			n.timeout(a, t.call)
		} else if r := a.request(t.call); r != nil {
			n.cancel(r) // LC-12: the parent finds its children ended when it waits again
		}
	case timers.TokenOver: // DE-2
		n.revoke(a, failure.TokenExpired)
	}
}

// timeout is row 8: a wait has passed its deadline (LC-12).
func (n *Naive) timeout(a *agent, no uint32) {
	n.withdraw(a)
	if r := a.request(no); r != nil {
		n.cancel(r)
		n.close(r)
	}
	n.fail(a, failure.WaitTimeout)
}

// alarm makes a timer.
func (n *Naive) alarm(a *agent, purpose timers.Purpose, in int64, no uint32) {
	n.made++
	t := &alarm{no: n.made, deadline: n.clock + in, purpose: purpose, agent: a, call: no}
	if a.tick != nil {
		t.tick = a.tick.seq
	}
	n.timers = append(n.timers, t)
}

// drop forgets timers.
func (n *Naive) drop(which func(*alarm) bool) {
	var left []*alarm
	for _, t := range n.timers {
		if !which(t) {
			left = append(left, t)
		}
	}
	n.timers = left
}

// dropOf forgets the timers of a call, or with 0 those of an agent's state.
func (n *Naive) dropOf(a *agent, no uint32, purposes ...timers.Purpose) {
	n.drop(func(t *alarm) bool {
		for _, p := range purposes {
			if t.agent == a && t.purpose == p && (no == 0 || t.call == no) {
				return true
			}
		}
		return false
	})
}

// waiting is the open call of that number, if the agent's tick waits for it.
func (a *agent) waiting(no uint32) *call {
	if a.tick == nil || a.tick.ready || a.tick.failed {
		return nil
	}
	for _, c := range a.tick.waits {
		if c.no == no && c.answer == nil {
			return c
		}
	}
	return nil
}

// request is the agent's open request for children of that number.
func (a *agent) request(no uint32) *request {
	for _, r := range a.requests {
		if r.call == no && a.tick != nil && r.tick == a.tick.seq {
			return r
		}
	}
	return nil
}
