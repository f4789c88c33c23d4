package segment

import (
	"bytes"
	"fmt"
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// NotCoveredError answers Prove for a record whose block is not among the first
// Size of the log.
type NotCoveredError struct{ Size uint64 }

// Error implements error.
func (e *NotCoveredError) Error() string {
	return fmt.Sprintf("execution log: the record is not in the first %d blocks", e.Size)
}

// Prove shows that the block with a record is in the tree over the first size
// blocks of the log (LO-7). It gives a copy of the block. It reads the record's
// segment and, if the tree goes so far, the tail; of the others their sidecars.
// Where history is not whole it answers *HistoryBehindError: any other block is
// part of a proof, though its stub will do. A block of which only the stub is here
// is a *CompactedError.
func (s *Store) Prove(seq, size uint64) (block []byte, proof logging.Proof, err error) {
	s.mu.Lock()
	err = s.readable()
	end, floor, unwritten := s.end, s.floor, uint64(0)
	if err == nil {
		unwritten = s.live[0].start
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return nil, proof, err
	case floor.Position > 0:
		return nil, proof, &HistoryBehindError{FirstSeq: floor.NextSeq}
	case seq >= end.NextSeq || size > end.Tree.Size():
		return nil, proof, &AheadError{NextSeq: end.NextSeq}
	}
	p := &prover{store: s, extents: extentsOf(&end, unwritten), size: size, scanned: make(map[int][]hash)}
	in := sort.Search(len(p.extents), func(i int) bool { return p.extents[i].firstSeq > seq }) - 1
	var leaf uint64
	archived := false
	err = p.scan(in, func(number uint64, i *Item) {
		if i.FirstSeq <= seq && seq <= i.LastSeq() {
			block, leaf, archived = bytes.Clone(i.Block.Raw), number, i.Archived()
		}
	})
	if err == nil && archived {
		err = s.compactedError(p.extents[in].start)
	}
	if err != nil {
		return nil, proof, err
	}
	if block == nil {
		return nil, proof, &NotCoveredError{Size: size}
	}
	proof, err = logging.Prove(leaf, size, p.node)
	return block, proof, err
}

// extent is where a segment's blocks lie, the tail's too.
type extent struct {
	firstSeq     uint64
	first, end   uint64           // numbers of its blocks
	start, after uint64           // positions
	sealed       *logging.Segment // nil where there is no sidecar
}

// extentsOf lists the segments of a log, none of which is empty. Those from the
// position unwritten on have no sidecar yet.
func extentsOf(t *logging.Tables, unwritten uint64) []extent {
	var list []extent
	for i := range t.Sealed {
		s := &t.Sealed[i]
		end := t.Tail.FirstLeaf
		if i+1 < len(t.Sealed) {
			end = t.Sealed[i+1].FirstLeaf
		}
		e := extent{firstSeq: s.FirstSeq, first: s.FirstLeaf, end: end, start: s.Start, after: s.End()}
		if s.Start < unwritten {
			e.sealed = s
		}
		list = append(list, e)
	}
	if t.Tail.FirstLeaf < t.Tree.Size() {
		list = append(list, extent{
			firstSeq: t.Tail.FirstSeq, first: t.Tail.FirstLeaf, end: t.Tree.Size(), start: t.Tail.Start, after: t.Position,
		})
	}
	return list
}

// prover finds nodes of the tree over the first size blocks.
type prover struct {
	store   *Store
	extents []extent
	size    uint64
	scanned map[int][]hash // digests of the segments that were read
}

// scan reads a segment, as far as the tree goes, and visits its blocks.
func (p *prover) scan(i int, visit func(number uint64, i *Item)) error {
	e := &p.extents[i]
	r := p.store.reader(aheadForward)
	defer r.close()
	digests := []hash{}
	for number, position := e.first, e.start; position < e.after && number < p.size; number++ {
		i, err := r.item(position)
		if err != nil {
			return err
		}
		digests = append(digests, i.Digest())
		visit(number, &i)
		position += i.Bytes()
	}
	p.scanned[i] = digests
	return nil
}

// node implements logging.Nodes.
func (p *prover) node(height int, number uint64) (hash, error) {
	first, end := number<<height, (number+1)<<height
	i := sort.Search(len(p.extents), func(i int) bool { return p.extents[i].first > first }) - 1
	e := &p.extents[i]
	if end > e.end {
		return p.join(height, number)
	}
	digests, read := p.scanned[i]
	if !read && e.sealed != nil {
		x, err := p.store.indexOf(e.sealed, 0)
		if err != nil {
			return hash{}, err
		}
		if node, ok := x.node(e.first, e.end, height, number); ok {
			return node, nil
		}
		if height > maxNodeHeight {
			return p.join(height, number)
		}
	}
	if !read {
		if err := p.scan(i, func(uint64, *Item) {}); err != nil {
			return hash{}, err
		}
		digests = p.scanned[i]
	}
	return nodeOver(digests[first-e.first : end-e.first]), nil
}

// join makes a node of the two below it.
func (p *prover) join(height int, number uint64) (hash, error) {
	left, err := p.node(height-1, 2*number)
	if err != nil {
		return hash{}, err
	}
	right, err := p.node(height-1, 2*number+1)
	if err != nil {
		return hash{}, err
	}
	return logging.NodeOf(left, right), nil
}
