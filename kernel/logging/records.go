package logging

import "github.com/omnikernel/omnikernel/kernel/bus"

// TreeHead is the body of a TreeHead record: the root over all blocks before
// the one that holds it. It is written with every Checkpoint, so that a
// majority's chain values vouch for it soon after.
type TreeHead struct {
	Size uint64
	Root [HashBytes]byte
}

// AppendTo writes the body's log form.
func (h *TreeHead) AppendTo(dst []byte) []byte {
	return append(bus.AppendUint(dst, h.Size), h.Root[:]...)
}

// DecodeTreeHead reads the body of a TreeHead record.
func DecodeTreeHead(raw []byte) (*TreeHead, bool) {
	d := bus.NewDecoder(raw)
	h := &TreeHead{Size: d.Uint()}
	d.Fixed(h.Root[:])
	return h, d.Done()
}

// ApplyTreeHead takes a TreeHead record in.
func (t *Tables) ApplyTreeHead() { t.Signed = PointerTo(t.Position) }

// Archived is the body of a LogArchived record: of the oldest Segments sealed
// segments, what no living agent needs moves to the archive.
type Archived struct {
	Segments uint64
	Before   uint64 // busSeq of the first record that is not in one of them
}

// AppendTo writes the body's log form.
func (a *Archived) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, a.Segments), a.Before)
}

// DecodeArchived reads the body of a LogArchived record.
func DecodeArchived(raw []byte) (*Archived, bool) {
	d := bus.NewDecoder(raw)
	a := &Archived{Segments: d.Uint(), Before: d.Uint()}
	return a, d.Done()
}

// ApplyArchived takes a LogArchived record of the event at that index in.
func (t *Tables) ApplyArchived(index uint64, a *Archived) {
	sealed := append([]Segment(nil), t.Sealed...) // copies of the tables share it
	for i := range sealed[:a.Segments] {
		sealed[i].ArchivedAt = index
	}
	t.Sealed = sealed
}

// SealedBefore counts the sealed segments whose records all lie before busSeq.
func (t *Tables) SealedBefore(seq uint64) (segments uint64) {
	for i := range t.Sealed {
		if t.Sealed[i].LastSeq >= seq {
			break
		}
		segments++
	}
	return segments
}

// FirstKept is the busSeq from which on the log is whole: below it, what no
// living agent needed may be in the archive only. 1 while nothing was archived.
func (t *Tables) FirstKept() uint64 {
	first := uint64(1)
	for i := range t.Sealed {
		if t.Sealed[i].ArchivedAt == 0 {
			break
		}
		first = t.Sealed[i].LastSeq + 1
	}
	return first
}
