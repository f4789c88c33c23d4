package logging

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// touch is one entry of a block's touched list before it is written.
type touch struct {
	subject  uint32
	previous uint64 // pointer
	head     [HashBytes]byte
}

// inOrder sorts touches by subject and keeps the first of each, in place.
func inOrder(touches []touch) []touch {
	ascending := true
	for i := 1; i < len(touches) && ascending; i++ {
		ascending = touches[i-1].subject < touches[i].subject
	}
	if ascending {
		return touches
	}
	// Stable, so that the first call for a subject is the one that is kept.
	slices.SortStableFunc(touches, func(a, b touch) int { return cmp.Compare(a.subject, b.subject) })
	return slices.CompactFunc(touches, func(a, b touch) bool { return a.subject == b.subject })
}

// appendTouched writes the list as the end of a block.
func appendTouched(dst []byte, touches []touch) []byte {
	for _, t := range touches {
		dst = binary.LittleEndian.AppendUint32(dst, t.subject)
		dst = binary.LittleEndian.AppendUint64(dst, t.previous)
		dst = append(dst, t.head[:]...)
	}
	return dst
}

// touchedList is the encoded list inside a decoded block.
type touchedList []byte

func (l touchedList) len() int { return len(l) / touchedBytes }

func (l touchedList) at(i int) (subject uint32, previous uint64) {
	entry := l[i*touchedBytes : (i+1)*touchedBytes]
	return binary.LittleEndian.Uint32(entry), binary.LittleEndian.Uint64(entry[4:])
}

func (l touchedList) head(i int) [HashBytes]byte {
	return [HashBytes]byte(l[i*touchedBytes+12:])
}

// find searches a subject in the ascending list.
func (l touchedList) find(subject uint32) (i int, ok bool) {
	low, high := 0, l.len()
	for low < high {
		middle := int(uint(low+high) >> 1)
		found, _ := l.at(middle)
		switch {
		case found == subject:
			return middle, true
		case found < subject:
			low = middle + 1
		default:
			high = middle
		}
	}
	return 0, false
}

// wellFormed tells whether the list is whole entries of agents and runs in strictly
// ascending order.
func (l touchedList) wellFormed() bool {
	if len(l)%touchedBytes != 0 {
		return false
	}
	var before uint32 // 0 is no agent, so the first must be above it too
	for i := range l.len() {
		subject, _ := l.at(i)
		if subject <= before || subject == firstRun { // … and there is no run 0
			return false
		}
		before = subject
	}
	return true
}
