package memory

import (
	"cmp"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/value"
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

// place is where an entry stands.
type place struct {
	agent     uint32
	namespace string
	key       string
}

// Compare orders by agent, namespace, key.
func (p place) Compare(o place) int {
	if c := cmp.Compare(p.agent, o.agent); c != 0 {
		return c
	}
	if c := cmp.Compare(p.namespace, o.namespace); c != 0 {
		return c
	}
	return cmp.Compare(p.key, o.key)
}

// Tables is the module's state beside the rows. Both memories stand in one
// ordered tree: shared memory is that of agent 0, which no agent is.
type Tables struct {
	SharedBytes     uint64 // namespaces, keys and values
	SharedKeys      uint64
	PersistentBytes uint64 // keys and values, over all agents
	entries         table.Sorted[place, *Entry]
}

// New returns empty tables.
func New() Tables { return Tables{} }

// Publish returns an immutable copy.
func (t *Tables) Publish() Tables {
	copied := *t
	copied.entries = t.entries.Publish()
	return copied
}

// Get finds a value in the agent's persistent memory; nil when there is none.
func (t *Tables) Get(agent uint32, key string) *Entry { return t.at(agent, "", key) }

// GetShared finds a value in shared memory; nil when there is none.
func (t *Tables) GetShared(namespace, key string) *Entry { return t.at(0, namespace, key) }

func (t *Tables) at(agent uint32, namespace, key string) *Entry {
	found, _ := t.entries.Get(place{agent, namespace, key})
	return found
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
	t.entries.From(place{agent, namespace, max(prefix, after)}, func(c place, e *Entry) bool {
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
		return yield(e)
	})
	return more
}

// All yields the persistent memories in order of (agent, key).
func (t *Tables) All(yield func(*Entry) bool) {
	t.entries.From(place{agent: 1}, func(_ place, e *Entry) bool { return yield(e) })
}

// AllShared yields the shared memory in order of (namespace, key).
func (t *Tables) AllShared(yield func(*Entry) bool) {
	t.entries.All(func(c place, e *Entry) bool { return c.agent == 0 && yield(e) })
}

// Load puts an entry of either memory back from a snapshot. The agent's row,
// with its own counts, comes back by itself.
func (t *Tables) Load(e *Entry) { t.put(e) }

// put sets an entry and returns the one that was in its place.
func (t *Tables) put(e *Entry) (before *Entry) {
	at := place{e.Agent, e.Namespace, e.Key}
	before, _ = t.entries.Get(at)
	t.entries.Set(at, e)
	t.count(before, e)
	return before
}

// drop deletes an entry and returns it; nil when there was none.
func (t *Tables) drop(agent uint32, namespace, key string) (before *Entry) {
	before, _ = t.entries.Get(place{agent, namespace, key})
	if before != nil {
		t.entries.Delete(place{agent, namespace, key})
		t.count(before, nil)
	}
	return before
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
