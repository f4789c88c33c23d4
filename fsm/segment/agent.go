package segment

import (
	"errors"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// errStray: a pointer led to a block that does not continue the agent's list.
var errStray = errors.New("pointer leads to no block of the agent")

// AgentBlocks visits the blocks that touch an agent, newest first, from the one
// that last points to (position + 1, as kept in the agent's row; 0 visits
// nothing). Where history that is not here begins, it answers
// *HistoryBehindError after the blocks that are.
func (s *Store) AgentBlocks(agent uint32, last uint64, visit Visit) error {
	r := s.reader(aheadSingle)
	defer r.close()
	for last != 0 {
		position := last - 1
		b, previous, err := r.agentBlock(agent, position)
		if err != nil {
			return err
		}
		if !visit(position, &b) {
			return nil
		}
		last = previous
	}
	return nil
}

// agentBlock gives a block that must touch the agent, and the pointer to the
// one before, which must lead backwards.
func (r *reader) agentBlock(agent uint32, position uint64) (logging.Block, uint64, error) {
	b, err := r.block(position)
	if err != nil {
		return logging.Block{}, 0, err
	}
	previous, touched := b.Previous(agent)
	if !touched || previous > position {
		return logging.Block{}, 0, r.stray(position, errStray)
	}
	return b, previous, nil
}

// AgentHistory visits the blocks that touch an agent and hold records from
// busSeq fromSeq on, oldest first, up to the one that last, the pointer in the
// agent's row, points to. In sealed segments it asks the sidecar index; in what
// is not sealed it follows the pointers.
func (s *Store) AgentHistory(agent uint32, last, fromSeq uint64, visit Visit) error {
	s.mu.Lock()
	err := s.readable()
	floor, end, sealed := s.floor, s.published, s.end.Sealed
	var boundary uint64
	if err == nil {
		boundary = s.live[0].start
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return err
	case fromSeq < floor.NextSeq:
		return &HistoryBehindError{FirstSeq: floor.NextSeq}
	case last > end.position:
		return &AheadError{NextSeq: end.seq}
	}
	r := s.reader(aheadSingle)
	defer r.close()
	recent, older, err := r.recentOf(agent, last, fromSeq, boundary)
	if err != nil {
		return err
	}
	for i := 0; older && i < len(sealed) && sealed[i].Start < min(boundary, last); i++ {
		entry := sealed[i]
		if entry.LastSeq < fromSeq || entry.End() <= floor.Position {
			continue
		}
		x, err := s.indexOf(entry, floor.Position)
		if err != nil {
			return err
		}
		// What came after last may be sealed already, and not even published.
		positions := x.positions(agent)
		upTo, _ := slices.BinarySearch(positions, last)
		if more, err := r.visitAll(agent, positions[:upTo], fromSeq, visit); err != nil || !more {
			return err
		}
	}
	slices.Reverse(recent)
	_, err = r.visitAll(agent, recent, fromSeq, visit)
	return err
}

// recentOf follows the pointers down to the boundary or fromSeq. It gives the
// positions, newest first, and whether there may be older blocks of interest.
func (r *reader) recentOf(agent uint32, last, fromSeq, boundary uint64) (positions []uint64, older bool, err error) {
	for last != 0 {
		position := last - 1
		if position < boundary {
			return positions, true, nil
		}
		b, previous, err := r.agentBlock(agent, position)
		if err != nil {
			return nil, false, err
		}
		if b.LastSeq() < fromSeq {
			return positions, false, nil
		}
		positions = append(positions, position)
		last = previous
	}
	return positions, false, nil
}

// visitAll visits the blocks at the positions, and tells whether to go on.
func (r *reader) visitAll(agent uint32, positions []uint64, fromSeq uint64, visit Visit) (more bool, err error) {
	for _, position := range positions {
		b, _, err := r.agentBlock(agent, position)
		if err != nil {
			return false, err
		}
		if b.LastSeq() >= fromSeq && !visit(position, &b) {
			return false, nil
		}
	}
	return true, nil
}
