package memory

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/tidwall/btree"
)

// Entry is one stored value. It is replaced, never changed in place.
type Entry struct {
	_         struct{} `cbor:",toarray"`
	Agent     uint32   // whose persistent memory it is in; 0 in shared memory
	Namespace string   // of shared memory; empty in persistent memory
	Key       string
	Value     value.Raw
	Version   uint64 // busSeq of the record that wrote it
	Writer    uint32 // the agent that did
	At        int64  // kernel clock then, Unix milliseconds
}

// bytes is what the entry counts for: its address and its value.
func (e *Entry) bytes() uint64 { return size(e.Namespace, e.Key, e.Value) }

func size(namespace, key string, v value.Raw) uint64 {
	return uint64(len(namespace)) + uint64(len(key)) + uint64(len(v))
}

// cell is an entry in the tree. Its key stands in it by value, so that looking
// one up allocates nothing.
type cell struct {
	agent     uint32
	namespace string
	key       string
	entry     *Entry
}

func less(a, b cell) bool {
	if a.agent != b.agent {
		return a.agent < b.agent
	}
	if a.namespace != b.namespace {
		return a.namespace < b.namespace
	}
	return a.key < b.key
}

// Tables is the module's state beside the rows. Both memories stand in one
// ordered tree: shared memory is that of agent 0, which no agent is.
type Tables struct {
	SharedBytes     uint64 // namespaces, keys and values
	SharedKeys      uint64
	PersistentBytes uint64 // keys and values, over all agents
	cells           *btree.BTreeG[cell]
}

// New returns empty tables.
func New() Tables {
	return Tables{cells: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true, Degree: 8})}
}

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	copied := *t
	copied.cells = t.cells.Copy()
	return copied
}

// Get finds a value in the agent's persistent memory; nil when there is none.
func (t *Tables) Get(agent uint32, key string) *Entry { return t.at(agent, "", key) }

// GetShared finds a value in shared memory; nil when there is none.
func (t *Tables) GetShared(namespace, key string) *Entry { return t.at(0, namespace, key) }

func (t *Tables) at(agent uint32, namespace, key string) *Entry {
	found, _ := t.cells.Get(cell{agent: agent, namespace: namespace, key: key})
	return found.entry
}

// List yields at most limit entries of the agent's persistent memory whose keys
// begin with prefix and stand behind after, in order of their keys, and tells
// whether there are more. The prefix is plain text: whoever means the keys below
// a segment ends it with a slash. When yield answers false the listing ends,
// and more is false.
func (t *Tables) List(agent uint32, prefix, after string, limit uint32, yield func(*Entry) bool) (more bool) {
	return t.list(agent, "", prefix, after, limit, yield)
}

// ListShared does for a namespace of shared memory what List does for an agent.
func (t *Tables) ListShared(namespace, prefix, after string, limit uint32, yield func(*Entry) bool) (more bool) {
	return t.list(0, namespace, prefix, after, limit, yield)
}

func (t *Tables) list(agent uint32, namespace, prefix, after string, limit uint32, yield func(*Entry) bool) (more bool) {
	from := cell{agent: agent, namespace: namespace, key: max(prefix, after)}
	t.cells.Ascend(from, func(c cell) bool {
		switch {
		case c.agent != agent || c.namespace != namespace || !strings.HasPrefix(c.key, prefix):
			return false
		case c.key == after:
			return true
		case limit == 0:
			more = true
			return false
		}
		limit--
		return yield(c.entry)
	})
	return more
}

// All yields the persistent memories in order of (agent, key).
func (t *Tables) All(yield func(*Entry) bool) {
	t.cells.Ascend(cell{agent: 1}, func(c cell) bool { return yield(c.entry) })
}

// AllShared yields the shared memory in order of (namespace, key).
func (t *Tables) AllShared(yield func(*Entry) bool) {
	t.cells.Scan(func(c cell) bool { return c.agent == 0 && yield(c.entry) })
}

// Load puts an entry of either memory back from a snapshot. The agent's row,
// with its own counts, comes back by itself.
func (t *Tables) Load(e *Entry) { t.put(e) }

// put sets an entry and returns the one that was in its place.
func (t *Tables) put(e *Entry) (before *Entry) {
	was, _ := t.cells.Set(cell{e.Agent, e.Namespace, e.Key, e})
	t.count(was.entry, e)
	return was.entry
}

// drop deletes an entry and returns it; nil when there was none.
func (t *Tables) drop(agent uint32, namespace, key string) (before *Entry) {
	was, _ := t.cells.Delete(cell{agent: agent, namespace: namespace, key: key})
	t.count(was.entry, nil)
	return was.entry
}

// count takes a replacement into the totals; nil is no entry.
func (t *Tables) count(before, now *Entry) {
	if before != nil {
		if before.Agent == 0 {
			t.SharedKeys--
			t.SharedBytes -= before.bytes()
		} else {
			t.PersistentBytes -= before.bytes()
		}
	}
	if now != nil {
		if now.Agent == 0 {
			t.SharedKeys++
			t.SharedBytes += now.bytes()
		} else {
			t.PersistentBytes += now.bytes()
		}
	}
}
