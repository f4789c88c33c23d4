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
// is not sealed it follows the pointers. Where one of the blocks was archived, and
// its archive is not here, it answers *CompactedError.
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
	h := &agentLog{reader: r, agent: agent, fromSeq: fromSeq, visit: visit}
	recent, older, err := h.recentOf(last, boundary)
	if err != nil {
		return err
	}
	for i := 0; older && i < len(sealed) && sealed[i].Start < min(boundary, last); i++ {
		entry := &sealed[i]
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
		if more, err := h.visitAll(positions[:upTo]); err != nil || !more {
			return err
		}
	}
	slices.Reverse(recent)
	if more, err := h.visitAll(recent); err != nil || !more {
		return err
	}
	return h.follows(last)
}

// agentLog is one agent's blocks, as they are found.
type agentLog struct {
	reader  *reader
	agent   uint32
	fromSeq uint64
	visit   Visit
	newest  uint64 // pointer to the last one found
}

// recentOf follows the pointers down to the boundary or fromSeq. It gives the
// positions, newest first, and whether there may be older blocks of interest.
func (h *agentLog) recentOf(last, boundary uint64) (positions []uint64, older bool, err error) {
	for last != 0 {
		position := last - 1
		if position < boundary {
			return positions, true, nil
		}
		b, previous, err := h.reader.agentBlock(h.agent, position)
		if err != nil {
			return nil, false, err
		}
		if b.LastSeq() < h.fromSeq {
			return positions, false, nil
		}
		positions = append(positions, position)
		last = previous
	}
	return positions, false, nil
}

// visitAll visits the blocks at the positions, and tells whether to go on.
func (h *agentLog) visitAll(positions []uint64) (more bool, err error) {
	for _, position := range positions {
		b, previous, err := h.reader.agentBlock(h.agent, position)
		if err != nil {
			return false, err
		}
		if b.LastSeq() < h.fromSeq {
			h.newest = logging.PointerTo(position)
			continue
		}
		if previous != h.newest {
			if err := h.follows(previous); err != nil {
				return false, err
			}
			// That read may have moved the block away.
			if b, _, err = h.reader.agentBlock(h.agent, position); err != nil {
				return false, err
			}
		}
		h.newest = logging.PointerTo(position)
		if !h.visit(position, &b) {
			return false, nil
		}
	}
	return true, nil
}

// follows checks that nothing was left out before a pointer: it leads to the newest
// block found, or to one without records of interest. Blocks that were archived are
// in no index.
func (h *agentLog) follows(pointer uint64) error {
	if pointer == 0 || pointer == h.newest {
		return nil
	}
	i, err := h.reader.item(pointer - 1)
	var behind *HistoryBehindError
	switch {
	case errors.As(err, &behind) && behind.FirstSeq <= h.fromSeq:
		return nil // what is not here is older
	case err != nil:
		return err
	case i.LastSeq() < h.fromSeq:
		return nil
	case i.Archived():
		return h.reader.store.compactedError(h.reader.start)
	}
	return h.reader.stray(pointer-1, errStray)
}
