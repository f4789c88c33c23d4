package workers

import (
	"container/list"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Call is what the Broker must know of a call.
type Call struct {
	Key        tools.Key
	Tool       string
	Revision   uint64
	Most       uint32        // calls of the revision that may be lent at once
	Lease      time.Duration // how long a worker keeps it without a sign of life
	Until      time.Time     // when the call is over, whoever has it
	Idempotent bool
	Dispatched uint64 // term in which it was; 0 for one that was not
}

// stage is where a call stands here.
type stage uint8

const (
	waiting stage = iota // in its line
	handing              // taken by a poll, and not handed out yet
	lent
	closing // its result is on its way, or was: the call goes when the outbox has it no more
)

// entry is one call.
type entry struct {
	Call
	stage  stage
	number uint64        // of arrival
	place  *list.Element // in its line, while it waits
	handed uint64        // how often it was, in this term
	fence  uint64        // of the newest lease
	until  time.Time     // … and when that is over
	since  time.Time     // when it was lent
	worker string        // to whom, as it calls itself
}

// line is the calls of one revision, the oldest first.
type line struct {
	tool     string
	revision uint64
	most     uint32
	queue    *list.List // of *entry
	out      uint32     // entries that are handed out, or being so
	entries  int        // that are the line's, whatever their stage
}

// Broker keeps what is lent in one term. It is used on many goroutines at once.
type Broker struct {
	mu      sync.Mutex // guards all of it
	term    uint64
	open    bool
	entries map[tools.Key]*entry
	lines   map[uint64]*line   // by revision
	tools   map[string][]*line // by tool, the oldest revision first
	polls   map[string]*list.List
	waits   int // polls
	last    uint64
}

// New makes one that is not open.
func New() *Broker {
	b := &Broker{polls: make(map[string]*list.List)}
	b.empty()
	return b
}

func (b *Broker) empty() {
	b.entries, b.lines, b.tools = make(map[tools.Key]*entry), make(map[uint64]*line), make(map[string][]*line)
}

// Open begins a term. One that goes on keeps its leases.
func (b *Broker) Open(term uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.term != term {
		b.empty()
		b.term = term
	}
	b.open = true
}

// Shut ends the term, or interrupts it: nothing is lent, and polls are woken.
func (b *Broker) Shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = false
	//lint:ordered each is woken
	for _, polls := range b.polls {
		for at := polls.Front(); at != nil; at = at.Next() {
			at.Value.(*Poll).stir()
		}
	}
}

// Term is the term that is open.
func (b *Broker) Term() (term uint64, open bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.term, b.open
}

// Has tells whether a call is known.
func (b *Broker) Has(key tools.Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries[key] != nil
}

// Offer puts a call at the end of its line, unless it is known.
func (b *Broker) Offer(c *Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, added := b.add(c); added {
		b.queue(e)
	}
}

// Hold keeps a call that an earlier leader dispatched: whoever has it may show its
// lease, within the time of one from now on.
func (b *Broker) Hold(c *Call, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, added := b.add(c); added {
		b.lines[e.Revision].out++
		b.lend(e, now)
	}
}

// Settle keeps a call that has a result which is on its way, so that it is not offered.
func (b *Broker) Settle(c *Call) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, added := b.add(c); added {
		e.stage = closing
		b.lines[e.Revision].out++
	}
}

func (b *Broker) add(c *Call) (e *entry, added bool) {
	if b.entries[c.Key] != nil {
		return nil, false
	}
	b.last++
	e = &entry{Call: *c, number: b.last}
	b.entries[c.Key] = e
	of := b.lines[c.Revision]
	if of == nil {
		of = &line{tool: c.Tool, revision: c.Revision, most: c.Most, queue: list.New()}
		b.lines[c.Revision] = of
		at := len(b.tools[c.Tool])
		for at > 0 && b.tools[c.Tool][at-1].revision > c.Revision {
			at--
		}
		b.tools[c.Tool] = append(b.tools[c.Tool][:at:at], append([]*line{of}, b.tools[c.Tool][at:]...)...)
	}
	of.entries++
	return e, true
}

// queue puts an entry into its line, among those that came before and after it, and
// wakes a poll.
func (b *Broker) queue(e *entry) {
	b.enqueue(e)
	b.stir(e.Tool)
}

func (b *Broker) enqueue(e *entry) {
	e.stage = waiting
	of := b.lines[e.Revision]
	if last := of.queue.Back(); last == nil || last.Value.(*entry).number < e.number {
		e.place = of.queue.PushBack(e)
		return
	}
	at := of.queue.Front()
	for at.Value.(*entry).number < e.number {
		at = at.Next()
	}
	e.place = of.queue.InsertBefore(e, at)
}

// free gives the place back that an entry took of those that may be lent.
func (b *Broker) free(e *entry) {
	of := b.lines[e.Revision]
	of.out--
	if of.queue.Len() > 0 {
		b.stir(e.Tool)
	}
}

// Drop forgets a call: it is over.
func (b *Broker) Drop(key tools.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[key]; e != nil {
		b.drop(e)
	}
}

func (b *Broker) drop(e *entry) {
	delete(b.entries, e.Key)
	of := b.lines[e.Revision]
	if of.entries--; e.stage == waiting {
		of.queue.Remove(e.place)
	} else {
		b.free(e)
	}
	if of.entries > 0 {
		return
	}
	delete(b.lines, of.revision)
	left := b.tools[of.tool][:0:0]
	for _, one := range b.tools[of.tool] {
		if one != of {
			left = append(left, one)
		}
	}
	if b.tools[of.tool] = left; len(left) == 0 {
		delete(b.tools, of.tool)
	}
}

// Forget drops every call that is not pending any more.
func (b *Broker) Forget(pending func(tools.Key) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	//lint:ordered each is looked at by itself
	for key, e := range b.entries {
		if !pending(key) {
			b.drop(e)
		}
	}
}
