package tools

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
)

// Revision is one registration of a tool (TO-9). It is kept while it is the tool's
// newest and the tool is registered, and while calls run that began with it.
type Revision struct {
	_          struct{} `cbor:",toarray"`
	No         uint64   // busSeq of its TOOL_REGISTERED
	At         int64    // kernel clock then, Unix milliseconds
	Registered bool     // it is what new calls get
	Calls      uint32   // of the outbox that began with it
	Manifest   *Manifest
}

type revisionNo uint64

// Compare orders revisions by age.
func (n revisionNo) Compare(other revisionNo) int { return cmp.Compare(n, other) }

type toolName string

// Compare orders tools by name.
func (n toolName) Compare(other toolName) int { return strings.Compare(string(n), string(other)) }

// Find looks a tool up by the name that a program calls: one that is built in, or
// the newest revision of one that is registered.
func (t *Tables) Find(name string) (Tool, bool) {
	if tool, ok := Find(name); ok {
		return tool, true
	}
	r, ok := t.Registered(name)
	if !ok {
		return Tool{}, false
	}
	return r.Tool(), true
}

// Tool is what the kernel must know of the revision.
func (r *Revision) Tool() Tool {
	return Tool{Name: r.Manifest.Name, Revision: r.No, manifest: r.Manifest}
}

// Registered is the newest revision of a registered tool.
func (t *Tables) Registered(name string) (Revision, bool) {
	no, ok := t.names.Get(toolName(name))
	if !ok {
		return Revision{}, false
	}
	return t.revisions.Get(no)
}

// Revision finds a revision that is registered, or that calls run with.
func (t *Tables) Revision(no uint64) (Revision, bool) { return t.revisions.Get(revisionNo(no)) }

// Current tells whether new calls of the tool get that revision; of a tool that is
// built in it is 0.
func (t *Tables) Current(name string, revision uint64) bool {
	if revision == 0 {
		return true
	}
	no, ok := t.names.Get(toolName(name))
	return ok && uint64(no) == revision
}

// Revisions is how many are kept.
func (t *Tables) Revisions() int { return t.revisions.Len() }

// AllRegistered yields the registered tools, ordered by name.
func (t *Tables) AllRegistered(yield func(*Revision) bool) {
	t.names.All(func(_ toolName, no revisionNo) bool {
		r, _ := t.revisions.Get(no)
		return yield(&r)
	})
}

// AllRevisions yields every revision that is kept, the oldest first.
func (t *Tables) AllRevisions(yield func(*Revision) bool) {
	t.revisions.All(func(_ revisionNo, r Revision) bool { return yield(&r) })
}

// LoadRevision puts a revision back from a snapshot.
func (t *Tables) LoadRevision(r Revision) {
	t.revisions.Set(revisionNo(r.No), r)
	if r.Registered {
		t.names.Set(toolName(r.Manifest.Name), revisionNo(r.No))
	}
}

// Same tells whether two manifests are one.
func (m *Manifest) Same(other *Manifest) bool {
	return bytes.Equal(m.AppendTo(nil), other.AppendTo(nil))
}

// RegisteredBody is the body of ToolRegistered; the record's busSeq is the revision.
type RegisteredBody struct {
	Manifest *Manifest
}

// AppendTo writes the body's log form.
func (b *RegisteredBody) AppendTo(dst []byte) []byte { return b.Manifest.AppendTo(dst) }

// DecodeRegistered reads the body of ToolRegistered.
func DecodeRegistered(raw []byte) (*RegisteredBody, bool) {
	d := bus.NewDecoder(raw)
	m, ok := readManifest(d)
	if !ok {
		return nil, false
	}
	return &RegisteredBody{m}, d.Done()
}

// ApplyRegistered makes the record's revision the tool's newest.
func (t *Tables) ApplyRegistered(at bus.At, b *RegisteredBody) {
	m := *b.Manifest // of the event, in whose memory its values lie
	m.Config, m.Input, m.Output = own(m.Config), own(m.Input), own(m.Output)
	t.retire(m.Name)
	t.LoadRevision(Revision{No: at.Seq, At: at.Now, Registered: true, Manifest: &m})
}

// DeregisteredBody is the body of ToolDeregistered.
type DeregisteredBody struct {
	Name     string
	Revision uint64 // that was its newest
	Reason   string
}

// AppendTo writes the body's log form.
func (b *DeregisteredBody) AppendTo(dst []byte) []byte {
	return bus.AppendText(bus.AppendUint(bus.AppendText(dst, b.Name), b.Revision), b.Reason)
}

// DecodeDeregistered reads the body of ToolDeregistered.
func DecodeDeregistered(raw []byte) (*DeregisteredBody, bool) {
	d := bus.NewDecoder(raw)
	b := &DeregisteredBody{Name: d.Text(), Revision: d.Uint(), Reason: d.Text()}
	return b, d.Done()
}

// ApplyDeregistered takes the tool away from new calls.
func (t *Tables) ApplyDeregistered(b *DeregisteredBody) { t.retire(b.Name) }

// retire ends a tool's newest revision for new calls; running ones keep it.
func (t *Tables) retire(name string) {
	r, ok := t.Registered(name)
	if !ok {
		return
	}
	t.names.Delete(toolName(name))
	r.Registered = false
	t.keep(r)
}

// keep stores a revision, or forgets one that nobody needs.
func (t *Tables) keep(r Revision) {
	if !r.Registered && r.Calls == 0 {
		t.revisions.Delete(revisionNo(r.No))
		return
	}
	t.revisions.Set(revisionNo(r.No), r)
}

// use counts one call more, or one less, of a revision. An agent's history, which is
// looked at alone, has none of them.
func (t *Tables) use(no uint64, more bool) {
	r, ok := t.Revision(no)
	if !ok {
		return
	}
	if more {
		r.Calls++
	} else {
		r.Calls--
	}
	t.keep(r)
}
