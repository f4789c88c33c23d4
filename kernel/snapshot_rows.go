package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// A snapshot of many agents is mostly their rows and the bodies that they
// share, so these are written without reflection: the same canonical CBOR that
// event.Encode gives, which a test compares. What few rows have is left to it.

// cborWriter appends what rows are made of.
type cborWriter []byte

func (w *cborWriter) head(major byte, n uint64) { *w = value.AppendHead(*w, major, n) }

func (w *cborWriter) list(n uint64) { w.head(value.MajorList, n) }

func (w *cborWriter) uints(numbers ...uint64) {
	for _, n := range numbers {
		w.head(value.MajorUint, n)
	}
}

func (w *cborWriter) int(n int64) {
	if n < 0 {
		w.head(value.MajorNegInt, uint64(-1-n))
		return
	}
	w.head(value.MajorUint, uint64(n))
}

func (w *cborWriter) bool(yes bool) { *w = value.AppendBool(*w, yes) }

func (w *cborWriter) null() { *w = value.AppendNull(*w) }

func (w *cborWriter) text(s string) {
	w.head(value.MajorText, uint64(len(s)))
	*w = append(*w, s...)
}

func (w *cborWriter) bytes(b []byte) {
	if b == nil {
		w.null()
		return
	}
	w.head(value.MajorBytes, uint64(len(b)))
	*w = append(*w, b...)
}

// or writes null for what is absent, and leaves the rest to reflection.
func or[T any](w *cborWriter, v *T) {
	if v == nil {
		w.null()
		return
	}
	*w = append(*w, event.Encode(v)...)
}

// each writes a list that few rows have: null when it is nil.
func each[T any](w *cborWriter, list []T) {
	if list == nil {
		w.null()
		return
	}
	*w = append(*w, event.Encode(list)...)
}

// appendInterned writes the section of one interned body.
func appendInterned(dst []byte, e *interned) []byte {
	w := cborWriter(dst)
	w.list(6)
	w.uints(uint64(e.No), uint64(e.Class), uint64(e.Users))
	w.bytes(e.Digest[:])
	w.bytes(e.Body)
	w.uints(e.Block)
	return w
}

// logged is how large one agent's part of the log is.
type logged struct {
	_        struct{} `cbor:",toarray"`
	Agent    uint32
	Bytes    uint64
	Warned   bool
	Exceeded bool
}

// typicalLogged is room for most of them, in bytes.
const typicalLogged = 16

func appendLogged(dst []byte, agent uint32, size logsize.Row) []byte {
	w := cborWriter(dst)
	w.list(4)
	w.uints(uint64(agent), size.Bytes)
	w.bool(size.Warned)
	w.bool(size.Exceeded)
	return w
}

// loadLogged refuses one of an agent that is not there.
func loadLogged(body []byte, s *state.State) error {
	one, ok := event.DecodeBody[logged](body)
	if !ok || s.Agents.Get(one.Agent) == nil {
		return ErrSnapshotBroken
	}
	s.Agents.Edit(one.Agent).Logged = logsize.Row{Bytes: one.Bytes, Warned: one.Warned, Exceeded: one.Exceeded}
	return nil
}

// appendRow writes the section of one agent.
func appendRow(dst []byte, r *state.Row) []byte {
	w := cborWriter(dst)
	w.list(12)
	w.identity(&r.Identity)
	w.lifecycle(&r.Lifecycle)
	w.execution(&r.Execution)
	w.list(1)
	w.uints(uint64(r.Permissions.Grants))
	w.delegation(&r.Delegation)
	w.memory(&r.Memory)
	w.mailbox(&r.Mailbox)
	w.list(2)
	w.uints(r.Recovery.Tick, uint64(r.Recovery.Retries))
	w.list(2)
	w.int(r.Timer.Deadline)
	w.uints(r.Timer.ID, r.LastBlock)
	w.bytes(r.Head[:])
	w.uints(uint64(r.Run))
	return w
}

func (w *cborWriter) identity(r *identity.Row) {
	w.list(16)
	w.bytes(r.ID[:])
	w.text(r.Name)
	w.text(r.Evaluator)
	w.uints(uint64(r.Mode))
	w.bool(r.Archived)
	w.uints(uint64(r.Program), uint64(r.Grants), uint64(r.Labels), uint64(r.Env), uint64(r.Teardown), uint64(r.Input), uint64(r.MaxDepth))
	w.int(r.TTLMillis)
	w.int(r.DefinedAt)
	w.uints(r.Seq)
	or(w, r.Origin)
}

func (w *cborWriter) lifecycle(r *lifecycle.Row) {
	w.list(7)
	w.uints(uint64(r.State), uint64(r.Fault))
	w.text(string(r.Code))
	w.uints(uint64(r.Suspending), uint64(r.Count))
	w.bytes(r.Chain[:])
	w.list(lifecycle.Kept)
	for i := range r.Last {
		step := &r.Last[i]
		w.list(7)
		w.uints(step.Seq, step.Index)
		w.int(step.At)
		w.uints(uint64(step.From), uint64(step.To), uint64(step.Trigger), uint64(step.Caller))
	}
}

func (w *cborWriter) execution(r *execution.Row) {
	w.list(8)
	w.bool(r.Reserved)
	w.uints(r.Place, r.LastTick)
	each(w, r.Queue)
	or(w, r.Current)
	or(w, r.Result)
	w.uints(uint64(r.Emitted))
	w.bool(r.Torn)
}

func (w *cborWriter) delegation(r *delegation.Row) {
	w.list(15)
	w.uints(uint64(r.Parent), uint64(r.FirstChild), uint64(r.LastChild), uint64(r.NextSibling), uint64(r.Live))
	w.uints(r.Tick, uint64(r.Call), uint64(r.Position), r.Token, uint64(r.Depth))
	w.int(r.Expires)
	w.uints(r.Timer)
	w.text(string(r.Revoked))
	w.uints(r.VoidBefore)
	w.text(string(r.ChildrenFor))
}

func (w *cborWriter) memory(r *memory.Row) {
	w.list(4)
	w.uints(uint64(r.Keys), r.Bytes)
	or(w, r.Undo)
	or(w, r.Snapshot)
}

func (w *cborWriter) mailbox(r *mailbox.Row) {
	w.list(4)
	each(w, r.Messages)
	w.uints(uint64(r.Bytes), uint64(r.Call))
	w.bool(r.Limited)
}
