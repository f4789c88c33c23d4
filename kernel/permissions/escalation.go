package permissions

import (
	"cmp"
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Escalation is a request that grants let through only with somebody's word
// (PE-3): open from Escalated until EscalationDecided. Entries are replaced,
// never changed in place.
type Escalation struct {
	_        struct{} `cbor:",toarray"`
	ID       uint64   // busSeq of its Escalated record: never reused
	Agent    uint32   // who asked, and waits
	Tick     uint64
	Call     uint32 // callIndex within the tick, from 1
	Tool     string
	Args     value.Raw
	Timeout  int64 // of the call itself, in milliseconds, as the program gave it; 0 for the default
	Action   string
	Resource string            // as the agent says it
	Digest   [sha256.Size]byte // CallDigest of the call that was asked for
	Handler  uint32            // the parent that is to decide; 0 for the operators
	Offered  bool              // the handler is looking at it
	Deadline int64             // kernel clock, Unix milliseconds: without a decision it is DENY
	Timer    uint64            // id of the deadline's timer
	Grants   uint32            // the list that escalated, interned
	Grant    int32             // the grant in it
	Level    uint32            // the ancestor whose list that is; 0 for the agent's own
	Revision uint64            // of a registered tool: what is decided about; 0 for any other
}

// CallDigest binds a decision to the exact call: SHA-256 over who asks, when,
// and for what. Two calls that differ in anything have different digests.
func CallDigest(agent uint32, tick uint64, call uint32, tool string, args value.Raw) [sha256.Size]byte {
	dst := make([]byte, 0, 64+len(tool)+len(args))
	dst = bus.AppendUint(dst, uint64(agent))
	dst = bus.AppendUint(dst, tick)
	dst = bus.AppendUint(dst, uint64(call))
	dst = bus.AppendText(dst, tool)
	return sha256.Sum256(bus.AppendText(dst, args))
}

// number is the key of an escalation.
type number uint64

// Compare orders escalations by age, the oldest first.
func (n number) Compare(other number) int { return cmp.Compare(n, other) }

// place is an escalation's key beneath an agent: its handler, or whoever asked.
type place struct {
	agent uint32
	id    uint64
}

// Compare orders by agent, then by age.
func (p place) Compare(other place) int {
	if c := cmp.Compare(p.agent, other.agent); c != 0 {
		return c
	}
	return cmp.Compare(p.id, other.id)
}

// Tables is the module's state: the open escalations. The zero value is empty.
// What is called while one of its functions yields must not change it.
type Tables struct {
	open      table.Sorted[number, *Escalation]
	byHandler table.Sorted[place, struct{}]
	byAgent   table.Sorted[place, struct{}]
}

// New returns empty tables.
func New() Tables { return Tables{} }

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{open: t.open.Publish(), byHandler: t.byHandler.Publish(), byAgent: t.byAgent.Publish()}
}

// Get finds an open escalation.
func (t *Tables) Get(id uint64) (*Escalation, bool) { return t.open.Get(number(id)) }

// Len is the number of open escalations.
func (t *Tables) Len() int { return t.open.Len() }

// All yields the open escalations, the oldest first.
func (t *Tables) All(yield func(*Escalation) bool) {
	t.open.All(func(_ number, e *Escalation) bool { return yield(e) })
}

// OfAgent yields those of the agent that asked, the oldest first.
func (t *Tables) OfAgent(agent uint32, yield func(*Escalation) bool) { t.of(&t.byAgent, agent, yield) }

// OfHandler yields those that the agent is to decide, the oldest first; with 0
// those that wait for the operators.
func (t *Tables) OfHandler(handler uint32, yield func(*Escalation) bool) {
	t.of(&t.byHandler, handler, yield)
}

// Next is the oldest escalation that the handler is to decide and was not
// offered yet. Handlers look at one at a time, so few are passed over.
func (t *Tables) Next(handler uint32) (next *Escalation, found bool) {
	t.OfHandler(handler, func(e *Escalation) bool {
		if !e.Offered {
			next, found = e, true
		}
		return !found
	})
	return next, found
}

func (t *Tables) of(index *table.Sorted[place, struct{}], agent uint32, yield func(*Escalation) bool) {
	index.From(place{agent: agent}, func(at place, _ struct{}) bool {
		if at.agent != agent {
			return false
		}
		e, ok := t.Get(at.id)
		return ok && yield(e)
	})
}

// Load puts an escalation back from a snapshot.
func (t *Tables) Load(e *Escalation) {
	t.remove(e.ID)
	t.open.Set(number(e.ID), e)
	t.byHandler.Set(place{e.Handler, e.ID}, struct{}{})
	t.byAgent.Set(place{e.Agent, e.ID}, struct{}{})
}

func (t *Tables) remove(id uint64) {
	e, ok := t.Get(id)
	if !ok {
		return
	}
	t.open.Delete(number(id))
	t.byHandler.Delete(place{e.Handler, id})
	t.byAgent.Delete(place{e.Agent, id})
}
