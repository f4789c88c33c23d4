package nodestate

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Sink takes entries, in order. Record is called under the Registry's lock and
// must not block; now is what the node would have to remember if the process
// ended here.
type Sink interface {
	Record(e Entry, now Memory)
	// Err is why entries, or what is to be remembered, are not kept at the moment; nil
	// when they are. It is called under the lock, too.
	Err() error
}

// Options of a Registry.
type Options struct {
	Policy  Policy
	Before  *Memory // what the process before left; nil: there was none
	Invalid string  // what is wrong with the node's configuration; empty: nothing
	Version string  // of the binary, for the journal
	Sink    Sink    // nil: nobody keeps entries
	Now     func() time.Time
}

// Cause says who asks for a transition, and why, in a sentence for people.
type Cause struct {
	By, Text  string
	Principal string // of an operator, by whom it is judged; empty for none
	BusSeq    uint64 // where the operator's order is in the execution log; 0: it is not there
}

// Refusal is a transition that was not made: nothing has changed. It is an
// outcome and no failure of the node.
type Refusal struct {
	State   State // in which the node stays
	Trigger Trigger
	Rule    string // what is against it
}

// Error is the sentence for people.
func (r *Refusal) Error() string {
	return fmt.Sprintf("a node that is %s does not take %s: %s", r.State, r.Trigger, r.Rule)
}

// Registry is where one node stands. Make one with New.
type Registry struct {
	options Options
	closed  atomic.Bool // of Closed, for whoever must not wait

	mu         sync.Mutex // guards what follows
	memory     Memory
	attempt    int          // starts that have failed in a row
	retryAt    time.Time    // of the next start, in Backoff
	components []*component // in the order in which they were first named
	changed    chan struct{}
}

// New makes the Registry of a process that begins: Created, whatever the one
// before left.
func New(o Options) *Registry {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Registry{options: o, changed: make(chan struct{})}
	boot := Entry{Kind: KindBoot, To: Created, By: "node"}
	if o.Version != "" {
		boot.Cause = "version " + o.Version
	}
	if o.Before != nil {
		r.memory.Seq, r.memory.Boot, r.memory.Suspension = o.Before.Seq, o.Before.Boot, o.Before.Suspension
		boot.From = o.Before.State
	}
	r.memory.Boot++
	r.mu.Lock()
	defer r.mu.Unlock()
	r.record(boot)
	return r
}

// Transition asks for one. It is the only way to another state; what it refuses
// changes nothing. Both are on record.
func (r *Registry) Transition(t Trigger, c Cause) *Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.transition(t, c)
}

func (r *Registry) transition(t Trigger, c Cause) *Refusal {
	found, refusal := r.find(t)
	e := Entry{From: r.memory.State, Trigger: t, By: c.By, Cause: c.Text, Principal: c.Principal, BusSeq: c.BusSeq}
	if refusal != nil {
		e.Kind, e.Rule = KindRefusal, refusal.Rule
		r.record(e)
		return refusal
	}
	e.Kind, e.To = KindTransition, found.To
	r.act(found.Action, &e)
	r.record(e)
	return nil
}

// Try says what Transition would refuse, and neither changes nor records
// anything.
func (r *Registry) Try(t Trigger) *Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, refusal := r.find(t)
	return refusal
}

// find looks up the row of a trigger, and asks its guard.
func (r *Registry) find(t Trigger) (*row, *Refusal) {
	state := r.memory.State
	refusal := &Refusal{State: state, Trigger: t, Rule: "there is no such transition"}
	known := false
	for i := range table {
		if table[i].Trigger != t || !slices.Contains(table[i].From, state) {
			continue
		}
		against := table[i].Guard(r)
		if against == "" {
			return &table[i], nil
		}
		if known {
			refusal.Rule += "; " + against
			continue
		}
		refusal.Rule, known = against, true
	}
	return nil, refusal
}

// act does a row's action; what it leaves behind over restarts goes into the entry.
func (r *Registry) act(a action, e *Entry) {
	switch a {
	case nothing:
	case clearAttempts:
		r.attempt, r.retryAt = 0, time.Time{}
	case countAttempt:
		r.attempt++
		r.retryAt = r.options.Now().Add(r.options.Policy.doubling(r.options.Policy.StartBackoff, r.attempt))
	case hold:
		e.Hold = HoldSet
	case release:
		e.Hold = HoldCleared
	}
}

// record numbers an entry, hands it over and wakes who waits for a change.
func (r *Registry) record(e Entry) {
	e.Seq, e.Boot, e.Time, e.Attempt = r.memory.Seq+1, r.memory.Boot, r.options.Now().UTC(), r.attempt
	e.By, e.Cause, e.Rule, e.Component = brief(e.By), brief(e.Cause), brief(e.Rule), brief(e.Component)
	r.memory.Follow(&e)
	r.closed.Store(r.memory.State.Closed())
	if r.options.Sink != nil {
		r.options.Sink.Record(e, r.memory)
	}
	r.wake()
}

func (r *Registry) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// Policy is what the node puts up with.
func (r *Registry) Policy() Policy { return r.options.Policy }

// Closed tells whether the node refuses commands now. It waits for nobody.
func (r *Registry) Closed() bool { return r.closed.Load() }

// Changed is closed with the next entry, or when a component's status changes. Get it, then look, then wait for it.
func (r *Registry) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}
