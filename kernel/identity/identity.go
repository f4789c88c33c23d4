package identity

import (
	"bytes"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// ID is an agent's UUID.
type ID [16]byte

// Compare orders identifiers bytewise.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// Mode says when an agent is done (LC-11). Numbers are part of the log format.
type Mode uint8

// The modes.
const (
	Task    Mode = iota + 1 // completes when its instruction queue is empty
	Service                 // stays ACTIVE and waits for more
)

// String names the mode as the API does.
func (m Mode) String() string {
	switch m {
	case Task:
		return "task"
	case Service:
		return "service"
	}
	return "unknown"
}

// MarshalText gives the mode its name in JSON.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Row is the registry's part of an agent's row. What Bodies lists are numbers of
// interned bodies, 0 for none.
type Row struct {
	_         struct{} `cbor:",toarray"`
	ID        ID
	Name      string
	Evaluator string // "std/1"
	Mode      Mode
	Archived  bool // a tombstone: the interned bodies are released (LC-8)
	Program   uint32
	Grants    uint32
	Labels    uint32
	Env       uint32
	Teardown  uint32
	Input     uint32  // schema of what the program takes (EX-14)
	MaxDepth  uint32  // of the token that spawn issues (DE-1)
	TTLMillis int64   // … and its lifetime; 0 for ever
	DefinedAt int64   // kernel clock, Unix milliseconds
	Seq       uint64  // busSeq of the definition
	Origin    *Origin // of a fork; nil for any other
}

// Bodies are the numbers of the interned bodies that the agent was defined with, 0
// for what it has not.
func (r *Row) Bodies() [6]uint32 {
	return [...]uint32{r.Program, r.Teardown, r.Input, r.Grants, r.Labels, r.Env}
}

// Tables is the module's state beside the rows: numbers by UUID.
type Tables struct {
	byID table.Sorted[ID, uint32]
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables { return Tables{byID: t.byID.Publish()} }

// Find returns the number of the agent with that UUID.
func (t *Tables) Find(id ID) (no uint32, ok bool) { return t.byID.Get(id) }

// From yields agents in UUID order, from id on.
func (t *Tables) From(id ID, yield func(ID, uint32) bool) {
	t.byID.From(id, yield)
}

// Load puts an agent back from a snapshot.
func (t *Tables) Load(id ID, no uint32) { t.byID.Set(id, no) }

// Defined is the body of an AgentDefined record; the record's Agent is the
// number given.
type Defined struct {
	ID        ID
	Name      string
	Evaluator string
	Mode      Mode
	Program   uint32
	Grants    uint32
	Labels    uint32
	Env       uint32
	Teardown  uint32
	Input     uint32
	MaxDepth  uint32
	TTLMillis int64
}

// AppendTo writes the body's log form.
func (b *Defined) AppendTo(dst []byte) []byte {
	dst = append(dst, b.ID[:]...)
	dst = bus.AppendText(dst, b.Name)
	dst = bus.AppendText(dst, b.Evaluator)
	dst = append(dst, byte(b.Mode))
	dst = bus.AppendUint(dst, uint64(b.Program))
	dst = bus.AppendUint(dst, uint64(b.Grants))
	dst = bus.AppendUint(dst, uint64(b.Labels))
	dst = bus.AppendUint(dst, uint64(b.Env))
	dst = bus.AppendUint(dst, uint64(b.Teardown))
	dst = bus.AppendUint(dst, uint64(b.Input))
	dst = bus.AppendUint(dst, uint64(b.MaxDepth))
	return bus.AppendInt(dst, b.TTLMillis)
}

// DecodeDefined reads the body of an AgentDefined record.
func DecodeDefined(raw []byte) (*Defined, bool) {
	d := bus.NewDecoder(raw)
	b := &Defined{}
	d.Fixed(b.ID[:])
	b.Name, b.Evaluator, b.Mode = d.Text(), d.Text(), Mode(d.Byte())
	b.Program, b.Grants, b.Labels, b.Env = d.Uint32(), d.Uint32(), d.Uint32(), d.Uint32()
	b.Teardown, b.Input, b.MaxDepth, b.TTLMillis = d.Uint32(), d.Uint32(), d.Uint32(), d.Int()
	return b, d.Done()
}

// Bodies are the numbers of interned bodies that the record names, 0 for none.
func (b *Defined) Bodies() [6]uint32 {
	return [...]uint32{b.Program, b.Teardown, b.Input, b.Grants, b.Labels, b.Env}
}

// Apply takes an AgentDefined record in.
func (t *Tables) Apply(row *Row, no uint32, at bus.At, b *Defined) {
	*row = Row{
		ID: b.ID, Name: b.Name, Evaluator: b.Evaluator, Mode: b.Mode,
		Program: b.Program, Grants: b.Grants, Labels: b.Labels, Env: b.Env,
		Teardown: b.Teardown, Input: b.Input, MaxDepth: b.MaxDepth, TTLMillis: b.TTLMillis,
		DefinedAt: at.Now, Seq: at.Seq,
	}
	t.byID.Set(b.ID, no)
}

// ApplyArchived shrinks the row to its tombstone: who it was, and where its
// definition stands in the log.
func (r *Row) ApplyArchived() {
	r.Archived = true
	r.Program, r.Teardown, r.Input, r.Grants, r.Labels, r.Env = 0, 0, 0, 0, 0, 0
}
