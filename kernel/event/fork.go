package event

import "github.com/omnikernel/omnikernel/kernel/value"

// Fork asks for a new agent that starts from a recorded point of another's
// history, ACTIVE (LO-13). Whoever proposes it has folded that history; the
// event holds all that the new agent brings, so that nothing else has to be
// read to apply it.
type Fork struct {
	Define   Define            `cbor:"1,keyasint"`           // the new agent, with the programs and bodies of the point
	Source   string            `cbor:"2,keyasint"`           // UUID of the agent whose history it was
	At       uint64            `cbor:"3,keyasint"`           // busSeq of the last record that was folded
	Head     [32]byte          `cbor:"4,keyasint"`           // the source's own chain value there
	LastTick uint64            `cbor:"5,keyasint,omitempty"` // the last tickSeq given
	Emitted  uint32            `cbor:"6,keyasint,omitempty"`
	Tick     *ForkTick         `cbor:"7,keyasint,omitempty"`  // in progress; nil between ticks
	Queue    []ForkInstruction `cbor:"8,keyasint,omitempty"`  // oldest first
	Memory   []ForkEntry       `cbor:"9,keyasint,omitempty"`  // in order of keys
	Undo     []ForkEntry       `cbor:"10,keyasint,omitempty"` // what recovery puts back of the tick's last run (FA-1)
	Messages []value.Raw       `cbor:"11,keyasint,omitempty"` // oldest first
	Set      []ForkSet         `cbor:"12,keyasint,omitempty"` // in order of keys: memory that is to be otherwise
	Submit   *ForkInstruction  `cbor:"13,keyasint,omitempty"` // one more instruction, after the others
}

// ForkInstruction waits for its tick.
type ForkInstruction struct {
	Program value.Raw `cbor:"1,keyasint,omitempty"` // the agent's own when empty
	Input   value.Raw `cbor:"2,keyasint,omitempty"`
}

// ForkTick is a tick that had not finished. Phase is execution.Phase: Pending,
// Answered or Restored.
type ForkTick struct {
	Phase      uint8         `cbor:"1,keyasint"`
	Program    value.Raw     `cbor:"2,keyasint,omitempty"` // the agent's own when empty
	Input      value.Raw     `cbor:"3,keyasint,omitempty"`
	Runs       uint32        `cbor:"4,keyasint"`
	Steps      uint32        `cbor:"5,keyasint,omitempty"`
	Calls      uint32        `cbor:"6,keyasint,omitempty"`
	Exit       uint32        `cbor:"7,keyasint,omitempty"`
	First      uint32        `cbor:"8,keyasint,omitempty"`
	Checkpoint []byte        `cbor:"9,keyasint,omitempty"`
	Requests   []ForkRequest `cbor:"10,keyasint,omitempty"` // of the last exit
	Orphan     bool          `cbor:"11,keyasint,omitempty"` // it waits for children, which a fork has not
}

// ForkRequest is one call of the last exit: with the answer that is on record,
// or with what it takes to ask again.
type ForkRequest struct {
	Tool   string      `cbor:"1,keyasint"`
	Args   value.Raw   `cbor:"2,keyasint,omitempty"`
	Millis int64       `cbor:"3,keyasint,omitempty"` // the program's own timeout; 0 for the default
	Answer *ForkAnswer `cbor:"4,keyasint,omitempty"` // nil while the call was open
}

// ForkAnswer is what the tick was told.
type ForkAnswer struct {
	OK      bool      `cbor:"1,keyasint,omitempty"`
	Value   value.Raw `cbor:"2,keyasint,omitempty"`
	Code    string    `cbor:"3,keyasint,omitempty"`
	Message string    `cbor:"4,keyasint,omitempty"`
}

// ForkEntry is one key of persistent memory. It keeps its version, so that a
// compare-and-set that the tick had in mind still holds.
type ForkEntry struct {
	Key     string    `cbor:"1,keyasint"`
	Missing bool      `cbor:"2,keyasint,omitempty"` // in Undo: there was nothing
	Value   value.Raw `cbor:"3,keyasint,omitempty"`
	Version uint64    `cbor:"4,keyasint,omitempty"`
	Writer  uint32    `cbor:"5,keyasint,omitempty"`
	At      int64     `cbor:"6,keyasint,omitempty"` // kernel clock when it was written, Unix milliseconds
}

// ForkSet is a key that the fork begins with another value of.
type ForkSet struct {
	Key   string    `cbor:"1,keyasint"`
	Value value.Raw `cbor:"2,keyasint"`
}
