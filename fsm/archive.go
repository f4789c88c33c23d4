package fsm

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// archive lets the execution log archive what a state says, in the background
// (INV-07). A Raft snapshot stands behind the state: what is moved need not be
// derived again.
func (f *FSM) archive(s *state.State) {
	if s.Log.FirstKept() == 1 {
		return
	}
	f.options.Log.Archive(s.Log.Sealed, func(position uint64, b *logging.Block, archivedAt uint64) bool {
		return droppable(s, position, b, archivedAt)
	})
}

// droppable tells whether a block may leave the log for the archive as of the event
// at an index: every agent that it concerns was TERMINATED by then, and so was the root
// agent of every run that one of them worked for; it brings no body that others may
// use, and it is not the log's first, which says how the kernel was booted. Any later
// state answers the same.
func droppable(s *state.State, position uint64, b *logging.Block, archivedAt uint64) bool {
	if position == 0 {
		return false
	}
	for i := range b.Touched() {
		agent, _ := b.TouchedAt(i)
		if run, ok := logging.RunOf(agent); ok {
			agent = run // its ledger is whole while its root agent is there
		}
		if !s.OverAt(agent, archivedAt) {
			return false
		}
	}
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.Interned {
			continue
		}
		gained, ok := interning.DecodeGained(records.Record.Body)
		if !ok {
			return false
		}
		for _, e := range gained.Entries {
			if e.New {
				return false
			}
		}
	}
	return true
}
