package replay

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
)

// ErrLedger says that a block is not the next one of a run's ledger, or that what it
// says cannot be a run's.
var ErrLedger = errors.New("replay: the run's ledger cannot be read")

// Ledger follows the ledger of one run (RU-4), from its first block on: it holds each
// block against the run's own chain, and knows which agents work for the run by what
// the blocks say of them. It replays nothing.
type Ledger struct {
	run     uint32
	id      identity.ID // of the root agent, and the run's
	defined bool
	agents  map[uint32]bool
	last    uint64 // pointer to the newest block
	head    [logging.HashBytes]byte

	state   runs.State
	blocks  uint64
	records uint64
	first   uint64 // busSeq
	end     uint64 // busSeq of the last record
	index   uint64
}

// NewLedger begins before the first block of the run with that number.
func NewLedger(run uint32) *Ledger {
	return &Ledger{run: run, agents: make(map[uint32]bool)}
}

// LedgerSum is what a ledger came to so far.
type LedgerSum struct {
	ID       identity.ID
	State    runs.State
	Agents   uint32 // that work for the run, or did
	Blocks   uint64
	Records  uint64 // of those agents, and the events that they came of
	FirstSeq uint64 // busSeq of the first record of the first block
	LastSeq  uint64 // … and of the last one of the last
	Index    uint64 // Raft index of the last block
	Last     uint64 // pointer to the last block
	Head     [logging.HashBytes]byte
}

// Sum tells how far it is.
func (l *Ledger) Sum() LedgerSum {
	return LedgerSum{
		ID: l.id, State: l.state, Agents: uint32(len(l.agents)), Blocks: l.blocks, Records: l.records,
		FirstSeq: l.first, LastSeq: l.end, Index: l.index, Last: l.last, Head: l.head,
	}
}

// Works reports whether an agent works for the run, as far as the blocks say.
func (l *Ledger) Works(agent uint32) bool { return l.agents[agent] }

// Block takes the next block of the ledger, which stands at that position of the log.
// The error is ErrLedger.
func (l *Ledger) Block(position uint64, b *logging.Block) error {
	subject := logging.RunSubject(l.run)
	previous, touched := b.Previous(subject)
	head, _ := b.Head(subject)
	if !touched || previous != l.last || head != l.head || position+1 <= l.last {
		return fmt.Errorf("%w: the block at position %d does not continue it", ErrLedger, position)
	}
	if err := l.join(position, b); err != nil {
		return err
	}
	ours := false
	for records := b.Records(); records.Next(); {
		r := &records.Record
		switch {
		case l.agents[r.Agent]:
			ours = true
		case bus.Kind(r.Kind) != bus.Event:
			continue
		}
		l.records++
	}
	if !ours {
		return fmt.Errorf("%w: the block at position %d is about none of its agents", ErrLedger, position)
	}
	if l.blocks == 0 {
		l.first = b.FirstSeq
	}
	l.blocks++
	l.last, l.head = logging.PointerTo(position), logging.ChainAfter(head, b.Digest())
	l.end, l.index = b.LastSeq(), b.Index
	return nil
}

// join finds the agents that begin to work for the run with this block.
func (l *Ledger) join(position uint64, b *logging.Block) error {
	for records := b.Records(); records.Next(); {
		r := &records.Record
		kind := bus.Kind(r.Kind)
		switch {
		case kind == bus.AgentDefined && r.Agent == l.run:
		case kind == bus.RunDefined && r.Agent == l.run:
		case kind == bus.RunTransition && r.Agent == l.run:
		case kind == bus.TokenIssued:
		default:
			continue
		}
		body, ok := kernel.DecodeRecordBody(kind, r.Body)
		if !ok {
			return fmt.Errorf("%w: record %d does not decode", ErrLedger, r.Seq)
		}
		switch body := body.(type) {
		case *identity.Defined:
			l.id = body.ID
		case *runs.DefinedBody:
			if l.defined || l.blocks > 0 {
				return fmt.Errorf("%w: record %d defines the run twice", ErrLedger, r.Seq)
			}
			l.defined, l.agents[l.run] = true, true
		case *runs.Event:
			l.state = body.To
		case *delegation.TokenIssued:
			if l.agents[body.Parent] {
				l.agents[r.Agent] = true
			}
		}
	}
	if !l.defined {
		return fmt.Errorf("%w: the block at position %d does not define the run, and is its first", ErrLedger, position)
	}
	return nil
}
