package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// Register is the name of the workload whose operations these are: each key of
// shared memory is a register that is read, written, and compared and set.
const Register = "register"

// The operations on a register.
const (
	Read  = "read"
	Write = "write"
	Swap  = "cas" // write, if the register still has Version
)

// RegisterIn is what is asked of a register. Values are unique in a run, and above
// 0, which stands for a register that does not exist.
type RegisterIn struct {
	Value   int64  `json:"value,omitempty"`   // to be written
	From    int64  `json:"from,omitempty"`    // of a Swap: the value that it is to replace
	Version uint64 `json:"version,omitempty"` // of a Swap: From's, 0 if there is none
	Sent    string `json:"sent,omitempty"`    // how it is made exactly once, if it is
}

// How a write is sent.
const (
	InSession = "session" // again, until it is answered
	WithKey   = "key"     // again, with an idempotency key
	Plainly   = "once"    // once: what is not answered stays unknown
)

// RegisterOut is what a register answered.
type RegisterOut struct {
	Value   int64  `json:"value,omitempty"`   // of a Read
	Version uint64 `json:"version,omitempty"` // that the register had after it; 0 if it does not exist
}

// Step is one operation on one register, for the search for a linear order.
type Step struct {
	ID    uint64
	Name  string
	Value int64 // read, or written
	From  int64 // of a Swap

	Outcome StepOutcome
}

// StepOutcome is what is known of a step.
type StepOutcome uint8

// The outcomes of a step.
const (
	Done     StepOutcome = iota // it took effect
	Maybe                       // a write that may have taken effect
	Refused                     // a Swap found another value: Value is what it found
	Mismatch                    // a Swap found another value, and which is not known
)

// Registers is the model of one register, as package porcupine wants it: the state
// is the value that it holds.
func Registers() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(held, input, _ any) (bool, any) {
			step := input.(Step)
			legal, now := step.After(held.(int64))
			return legal, now
		},
		Equal:             func(a, b any) bool { return a.(int64) == b.(int64) },
		Hash:              func(held any) uint64 { return uint64(held.(int64)) },
		DescribeOperation: func(input, _ any) string { return input.(Step).String() },
		DescribeState:     func(held any) string { return fmt.Sprint(held) },
	}
}

// After is whether the step can be taken when the register holds a value, and what
// it holds then.
func (s Step) After(held int64) (legal bool, now int64) {
	switch {
	case s.Name == Read:
		return held == s.Value, held
	case s.Outcome == Refused:
		return held == s.Value && held != s.From, held
	case s.Outcome == Mismatch:
		return held != s.From, held
	case s.Name == Write, held == s.From:
		return true, s.Value
	}
	// A Swap that finds another value has no effect, and is refused: of one that
	// was not answered, that may be the reason.
	return s.Outcome == Maybe, held
}

// String is one line.
func (s Step) String() string {
	text := fmt.Sprintf("#%d %s", s.ID, s.Name)
	switch s.Name {
	case Read:
		return fmt.Sprintf("%s: %d", text, s.Value)
	case Write:
		text = fmt.Sprintf("%s %d", text, s.Value)
	default:
		text = fmt.Sprintf("%s %d → %d", text, s.From, s.Value)
	}
	switch s.Outcome {
	case Maybe:
		return text + " ?"
	case Refused:
		return fmt.Sprintf("#%d %s from %d: it is %d", s.ID, s.Name, s.From, s.Value)
	case Mismatch:
		return fmt.Sprintf("#%d %s from %d: it is another", s.ID, s.Name, s.From)
	}
	return text
}
