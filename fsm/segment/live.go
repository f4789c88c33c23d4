package segment

import (
	"sort"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// mark is where a block begins, in the log and in the segment's file, and its first
// busSeq.
type mark struct{ seq, position, offset uint64 }

// markEvery is the distance in bytes of the file between two marks.
const markEvery = 64 << 10

// live is a segment that is not fully on disk yet: the tail, and before it
// those that are sealed but still being written. Its marks stand in for the
// sidecar index. Guarded by Store.mu.
type live struct {
	start    uint64
	firstSeq uint64
	marks    []mark
}

func newLive(h logging.Head) *live { return &live{start: h.Start, firstSeq: h.FirstSeq} }

// note a block of the segment, in order.
func (l *live) note(position, seq uint64) {
	l.marks = noteMark(l.marks, mark{seq: seq, position: position, offset: uint64(offsetIn(l.start, position))})
}

func noteMark(marks []mark, m mark) []mark {
	if n := len(marks); n > 0 && m.offset-marks[n-1].offset < markEvery {
		return marks
	}
	return append(marks, m)
}

// seek gives the position of the last marked block that begins at or before
// seq.
func (l *live) seek(seq uint64) (position uint64, ok bool) {
	i := sort.Search(len(l.marks), func(i int) bool { return l.marks[i].seq > seq })
	if i == 0 {
		return 0, false
	}
	return l.marks[i-1].position, true
}
