package fsm

import (
	"fmt"
	"sync"

	"github.com/omnikernel/omnikernel/kernel/event"
)

// ringSize is how many recent chain values a node remembers: more than can be
// applied between a leader's question and its Checkpoint event.
const ringSize = 1 << 15

// chainRing holds recent chain values by index. The applier writes, whoever
// answers a peer's question reads.
type chainRing struct {
	mu     sync.Mutex // guards ring
	ring   []chainAt
	newest uint64
}

type chainAt struct {
	index uint64
	chain [32]byte
}

func (r *chainRing) put(index uint64, chain [32]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		r.ring = make([]chainAt, ringSize)
	}
	r.ring[index%ringSize] = chainAt{index, chain}
	r.newest = index
}

func (r *chainRing) get(index uint64) ([32]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ring == nil {
		return [32]byte{}, false
	}
	at := r.ring[index%ringSize]
	return at.chain, at.index == index && index != 0
}

// DivergenceError says that this replica's log differs from the majority's at
// Index (LO-3, INV-17). The node must stop and be seeded anew.
type DivergenceError struct {
	Index uint64
	Ours  [32]byte
	Most  [32]byte
}

// Error names the code, the index and both values.
func (e *DivergenceError) Error() string {
	return fmt.Sprintf("REPLAY_DIVERGENCE: at index %d this node's chain is %x, the majority's %x: the node must be seeded anew",
		e.Index, e.Ours[:8], e.Most[:8])
}

// compare checks a Checkpoint event against this replica's own chain. Without
// a majority nobody can say who is right, and every node stops.
func (f *FSM) compare(e *event.Event) error {
	c, ok := event.DecodeBody[event.Compare](e.Body)
	if !ok {
		return fmt.Errorf("a Checkpoint whose body does not decode")
	}
	ours, known := f.chains.get(c.Index)
	if !known || len(c.Values) == 0 {
		return nil // applied before this process started, or not remembered
	}
	most, count := c.Values[0].Chain, 0
	for _, candidate := range c.Values {
		n := 0
		for _, other := range c.Values {
			if other.Chain == candidate.Chain {
				n++
			}
		}
		if n > count {
			most, count = candidate.Chain, n
		}
	}
	if count*2 <= len(c.Values) || ours != most {
		return &DivergenceError{Index: c.Index, Ours: ours, Most: most}
	}
	return nil
}
