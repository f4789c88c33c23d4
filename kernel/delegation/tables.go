package delegation

import (
	"cmp"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/table"
)

// Open is a request whose parent waits for it. Entries are replaced, never
// changed in place.
type Open struct {
	_         struct{} `cbor:",toarray"`
	Parent    uint32
	Tick      uint64
	Call      uint32
	First     uint32 // number of the first child; the others follow densely
	Count     uint32
	Open      uint32 // children that are not TERMINATED yet
	FailFast  bool   // the first failure ends the others
	Handler   bool   // the parent's program decides escalations (PE-3)
	Cancelled bool   // what still runs is being ended
	Deadline  int64  // kernel clock, Unix milliseconds
	Timer     uint64
}

// key identifies a request.
type key struct {
	parent uint32
	tick   uint64
	call   uint32
}

// Compare orders by parent, tick, call.
func (k key) Compare(o key) int {
	if c := cmp.Compare(k.parent, o.parent); c != 0 {
		return c
	}
	if c := cmp.Compare(k.tick, o.tick); c != 0 {
		return c
	}
	return cmp.Compare(k.call, o.call)
}

// Tables is the module's state beside the rows. The zero value is empty.
type Tables struct {
	open     table.Sorted[key, *Open]
	cascades table.Sorted[age, *Cascade]
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	return Tables{open: t.open.Publish(), cascades: t.cascades.Publish()}
}

// Get finds a request that is waited for.
func (t *Tables) Get(parent uint32, tick uint64, call uint32) (*Open, bool) {
	return t.open.Get(key{parent, tick, call})
}

// Newest is the last of the tick's requests: while its handler runs, the one
// that the tick will wait for again. A handler that delegates in turn has made
// its own after it.
func (t *Tables) Newest(parent uint32, tick uint64) (newest *Open, ok bool) {
	t.OfParent(parent, func(o *Open) bool {
		if o.Tick == tick {
			newest, ok = o, true
		}
		return true
	})
	return newest, ok
}

// OfParent yields the agent's requests, oldest first. What is called meanwhile
// must not change the tables.
func (t *Tables) OfParent(parent uint32, yield func(*Open) bool) {
	t.open.From(key{parent: parent}, func(k key, o *Open) bool { return k.parent == parent && yield(o) })
}

// All yields the open requests in order.
func (t *Tables) All(yield func(*Open) bool) {
	t.open.All(func(_ key, o *Open) bool { return yield(o) })
}

// FirstCascade is the oldest cascade that is not through.
func (t *Tables) FirstCascade() (*Cascade, bool) {
	_, c, ok := t.cascades.First()
	return c, ok
}

// AllCascades yields them, oldest first.
func (t *Tables) AllCascades(yield func(*Cascade) bool) {
	t.cascades.All(func(_ age, c *Cascade) bool { return yield(c) })
}

// Load puts a request back from a snapshot.
func (t *Tables) Load(o *Open) { t.open.Set(key{o.Parent, o.Tick, o.Call}, o) }

// LoadCascade puts a cascade back from a snapshot.
func (t *Tables) LoadCascade(c *Cascade) { t.cascades.Set(age(c.ID), c) }

// edit replaces a request by a changed copy, if it is there.
func (t *Tables) edit(parent uint32, tick uint64, call uint32, change func(*Open)) {
	if found, ok := t.Get(parent, tick, call); ok {
		dup := *found
		change(&dup)
		t.Load(&dup)
	}
}

// ApplyIssued gives an agent its token and, to a child, its place in the tree:
// behind its parent's other children. An agent has one token and one place, and
// is numbered after its parent and its older siblings (INV-08); a record that
// says otherwise changes nothing. What edit returns may be nil.
func (t *Tables) ApplyIssued(edit func(no uint32) *Row, no uint32, at bus.At, b *TokenIssued) {
	row := edit(no)
	if row == nil || row.Token != 0 || b.Parent >= no || b.Parent != 0 && !link(edit, b.Parent, no) {
		return
	}
	row.ApplyIssued(at, b)
}

// ApplyIssued gives the agent itself its token, and says whose child it is.
func (r *Row) ApplyIssued(at bus.At, b *TokenIssued) {
	r.Token, r.Depth, r.Expires, r.Timer = at.Seq, b.Depth, b.Expires, b.Timer
	if b.Parent != 0 {
		r.Parent, r.Tick, r.Call, r.Position = b.Parent, b.Tick, b.Call, b.Position
	}
}

// link makes the agent its parent's last child, if it may be.
func link(edit func(no uint32) *Row, to, no uint32) bool {
	parent := edit(to)
	if parent == nil || parent.LastChild >= no {
		return false
	}
	if parent.LastChild == 0 {
		parent.FirstChild = no
	} else if last := edit(parent.LastChild); last != nil {
		last.NextSibling = no
	}
	parent.LastChild = no
	parent.Live++
	return true
}

// ApplyChildOver counts one child of the agent as TERMINATED.
func (r *Row) ApplyChildOver() {
	if r.Live > 0 {
		r.Live--
	}
}

// ApplyRevoked voids the token, and what rests on it.
func (t *Tables) ApplyRevoked(row *Row, no uint32, at bus.At, b *TokenRevoked) {
	if b.Cursor {
		t.move(no)
	}
	if row.ApplyRevoked(b) && b.Cascade {
		t.LoadCascade(&Cascade{ID: at.Seq, Kind: OfSubtree, Root: no, Code: b.Code})
	}
}

// ApplyRevoked voids the agent's own token. The first reason stands; it reports
// whether this is the first.
func (r *Row) ApplyRevoked(b *TokenRevoked) bool {
	if r.Revoked != "" {
		return false
	}
	r.Revoked = b.Code
	return true
}

// ApplyVoided voids the tokens of the children that there are.
func (t *Tables) ApplyVoided(row *Row, no uint32, at bus.At, b *ChildrenVoided) {
	if row.FirstChild == 0 {
		return
	}
	row.ApplyVoided(at, b)
	t.LoadCascade(&Cascade{ID: at.Seq, Kind: OfSubtree, Root: no, Code: b.Code})
}

// ApplyVoided notes in the parent's row which tokens are void: those that are older
// than the record.
func (r *Row) ApplyVoided(at bus.At, b *ChildrenVoided) {
	r.VoidBefore, r.ChildrenFor = at.Seq, b.Code
}

// ApplyAccepted opens a request; a detached one nobody waits for.
func (t *Tables) ApplyAccepted(parent uint32, tick uint64, b *DelegationAccepted) {
	if b.Detached || !b.possible() {
		return
	}
	t.Load(&Open{
		Parent: parent, Tick: tick, Call: b.Call, First: b.First, Count: b.Count, Open: b.Count,
		FailFast: b.FailFast, Handler: b.Handler, Deadline: b.Deadline, Timer: b.Timer,
	})
}

// ApplyResult counts one child of a request as over.
func (t *Tables) ApplyResult(b *ChildResult) {
	t.edit(b.Parent, b.Tick, b.Call, func(o *Open) {
		if o.Open > 0 {
			o.Open--
		}
	})
}

// ApplyCancelled ends what still runs of a request, once. With WAIT_TIMEOUT its
// timer has fired, which it also does while the children of a request that was
// cancelled before, by fail_fast, are still being ended.
func (t *Tables) ApplyCancelled(parent uint32, at bus.At, b *RequestCancelled) {
	found, ok := t.Get(parent, b.Tick, b.Call)
	if !ok {
		return
	}
	t.ApplyEnding(parent, b)
	if found.Cancelled {
		return
	}
	t.LoadCascade(&Cascade{ID: at.Seq, Kind: OfRequest, Root: found.First, Last: found.First + found.Count - 1, Code: b.Code})
}

// ApplyEnding notes in the request that what runs of it is being ended.
func (t *Tables) ApplyEnding(parent uint32, b *RequestCancelled) {
	t.edit(parent, b.Tick, b.Call, func(o *Open) {
		o.Cancelled = true
		if b.Code == failure.WaitTimeout {
			o.Deadline, o.Timer = 0, 0
		}
	})
}

// ApplyOver forgets a request.
func (t *Tables) ApplyOver(parent uint32, tick uint64, b *DelegationOver) {
	t.open.Delete(key{parent, tick, b.Call})
}

// ApplyMoved moves the oldest cascade on, or ends it.
func (t *Tables) ApplyMoved(b *CascadeMoved) {
	if !b.Done {
		t.move(b.At)
		return
	}
	if id, _, ok := t.cascades.First(); ok {
		t.cascades.Delete(id)
	}
}

func (t *Tables) move(at uint32) {
	if c, ok := t.FirstCascade(); ok {
		dup := *c
		dup.At = at
		t.LoadCascade(&dup)
	}
}
