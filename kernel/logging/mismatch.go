package logging

import (
	"encoding/hex"
	"strconv"
)

// Aspect names what a verifier found to differ.
type Aspect uint8

// What can differ, in the order in which it is checked.
const (
	AspectBlock   Aspect = iota + 1 // the bytes are not a block: see Err
	AspectSeq                       // first busSeq is not the next one
	AspectIndex                     // Raft index does not increase
	AspectTerm                      // Raft term goes back
	AspectClock                     // kernel clock goes back
	AspectChain                     // chain value in the block is not the one before it
	AspectPointer                   // a pointer leads to no earlier block
)

var aspectTexts = [...]string{"", "block", "busSeq", "index", "term", "clock", "chain", "pointer"}

// String is the aspect in a word.
func (a Aspect) String() string {
	if int(a) < len(aspectTexts) {
		return aspectTexts[a]
	}
	return "unknown aspect"
}

// Mismatch is the first thing a Verifier found wrong. Position is where the
// offending block begins; Index is its Raft index, or, where the block cannot
// be read, that of the last good one. Want and Got are decimal numbers or
// hexadecimal chain values; for an order that does not hold, Want is the bound.
// Err is the *DecodeError of an unreadable block.
type Mismatch struct {
	Position uint64
	Index    uint64
	Aspect   Aspect
	Want     string
	Got      string
	Err      error
}

// Error implements error.
func (m *Mismatch) Error() string {
	text := "log: position " + strconv.FormatUint(m.Position, 10) +
		", index " + strconv.FormatUint(m.Index, 10) + ": "
	if m.Err != nil {
		//lint:text our own decode error, and a verifier's report is no record
		return text + m.Err.Error()
	}
	return text + m.Aspect.String() + " is " + m.Got + ", want " + m.Want
}

// Unwrap gives the *DecodeError of an unreadable block.
func (m *Mismatch) Unwrap() error { return m.Err }

func (m *Mismatch) numbers(aspect Aspect, want, got uint64) *Mismatch {
	m.Aspect = aspect
	m.Want, m.Got = strconv.FormatUint(want, 10), strconv.FormatUint(got, 10)
	return m
}

func (m *Mismatch) signed(aspect Aspect, want, got int64) *Mismatch {
	m.Aspect = aspect
	m.Want, m.Got = strconv.FormatInt(want, 10), strconv.FormatInt(got, 10)
	return m
}

func (m *Mismatch) hashes(aspect Aspect, want, got [HashBytes]byte) *Mismatch {
	m.Aspect = aspect
	m.Want, m.Got = hex.EncodeToString(want[:]), hex.EncodeToString(got[:])
	return m
}
