package script

import (
	"errors"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// dict is a dict of a script: entries in the order of their first assignment. The
// index, which small ones do without, is a map of Go's, whose order nothing sees; so no choice of keys makes
// looking them up slow, as it could with the library's own, whose hash of short
// texts and integers is known to everybody.
type dict struct {
	entries []pair // those with a nil key are gone
	index   map[key]int32
	gone    int
	frozen  bool
	walks   int // iterations that are under way
}

type pair struct {
	k     key
	key   starlark.Value
	value starlark.Value
}

// unindexed is up to how many entries are looked through one by one.
const unindexed = 8

// key is what a key is looked up by: a number, a boolean, or text.
type key struct {
	kind byte
	n    int64
	text string
}

const (
	textKey = iota
	intKey
	boolKey
	tupleKey
)

const keyRule = "a dict's key must be text, an integer of 64 bits, a boolean, or a tuple of them"

// keyOf is how a value is looked up; ok is false if it is no key.
func keyOf(v starlark.Value) (k key, ok bool) {
	switch v := v.(type) {
	case starlark.String:
		return key{kind: textKey, text: string(v)}, true
	case starlark.Int:
		n, ok := v.Int64()
		return key{kind: intKey, n: n}, ok
	case starlark.Bool:
		if v {
			return key{kind: boolKey, n: 1}, true
		}
		return key{kind: boolKey}, true
	case starlark.Tuple:
		return keyOfTuple(v)
	}
	return key{}, false
}

// maxKeyParts bounds the items of a tuple that is a key.
const maxKeyParts = 16

func keyOfTuple(v starlark.Tuple) (k key, ok bool) {
	if len(v) > maxKeyParts {
		return key{}, false
	}
	var parts []byte
	for _, item := range v {
		if _, nested := item.(starlark.Tuple); nested {
			return key{}, false
		}
		part, ok := keyOf(item)
		if !ok {
			return key{}, false
		}
		parts = append(parts, part.kind)
		n := uint64(part.n)
		if part.kind == textKey {
			n = uint64(len(part.text))
		}
		for range 8 {
			parts = append(parts, byte(n))
			n >>= 8
		}
		parts = append(parts, part.text...)
	}
	return key{kind: tupleKey, text: string(parts)}, true
}

func newDict(room int) *dict {
	d := &dict{entries: make([]pair, 0, room)}
	if room > unindexed {
		d.index = make(map[key]int32, room)
	}
	return d
}

// find is where an entry stands.
func (d *dict) find(k key) (at int32, found bool) {
	if d.index != nil {
		at, found = d.index[k]
		return at, found
	}
	for i := range d.entries {
		if d.entries[i].key != nil && d.entries[i].k == k {
			return int32(i), true
		}
	}
	return 0, false
}

const (
	frozenRule   = "the value came from outside and does not change: make a copy with dict(x) or list(x)"
	walkedRule   = "what is gone over does not change meanwhile: go over a copy, list(x)"
	dictFullRule = "a dict has at most 65536 entries"
)

// changeable tells why the dict cannot change; nil if it can.
func (d *dict) changeable() *failure.Failure {
	switch {
	case d.frozen:
		return fault(frozenRule)
	case d.walks > 0:
		return fault(walkedRule)
	}
	return nil
}

func (d *dict) get(k key) (starlark.Value, bool) {
	at, found := d.find(k)
	if !found {
		return nil, false
	}
	return d.entries[at].value, true
}

// put sets an entry of a dict that is being made; what is no key is left out.
func (d *dict) put(name, v starlark.Value) {
	if k, ok := keyOf(name); ok {
		d.set(k, name, v)
	}
}

// set sets an entry; a new one goes last.
func (d *dict) set(k key, name, v starlark.Value) {
	if at, found := d.find(k); found {
		d.entries[at].value = v
		return
	}
	if d.index != nil {
		d.index[k] = int32(len(d.entries))
	}
	d.entries = append(d.entries, pair{k, name, v})
	if d.index == nil && len(d.entries) > unindexed {
		d.compact()
	}
}

// remove takes an entry out.
func (d *dict) remove(k key) (starlark.Value, bool) {
	at, found := d.find(k)
	if !found {
		return nil, false
	}
	v := d.entries[at].value
	d.entries[at] = pair{}
	delete(d.index, k)
	if d.gone++; d.gone > 16 && d.gone > len(d.entries)/2 {
		d.compact()
	}
	return v, true
}

// compact closes the gaps that removed entries left, and indexes what is large.
func (d *dict) compact() {
	live := make([]pair, 0, d.Len()+1)
	for _, e := range d.entries {
		if e.key != nil {
			live = append(live, e)
		}
	}
	d.entries, d.gone = live, 0
	if len(live) > unindexed && d.index == nil {
		d.index = make(map[key]int32, 2*len(live))
	}
	if d.index != nil {
		for i := range live {
			d.index[live[i].k] = int32(i)
		}
	}
}

func (d *dict) clear() {
	d.entries, d.index, d.gone = nil, nil, 0
}

// Len is the number of entries.
func (d *dict) Len() int { return len(d.entries) - d.gone }

// Get is for the interpreter, which spreads dicts over named arguments.
func (d *dict) Get(name starlark.Value) (starlark.Value, bool, error) {
	k, ok := keyOf(name)
	if !ok {
		return nil, false, nil
	}
	v, found := d.get(k)
	return v, found, nil
}

// Items are the entries, as the interpreter wants them.
func (d *dict) Items() []starlark.Tuple {
	items := make([]starlark.Tuple, 0, d.Len())
	for _, e := range d.entries {
		if e.key != nil {
			items = append(items, starlark.Tuple{e.key, e.value})
		}
	}
	return items
}

// Iterate goes over the keys. Until it is done the dict does not change.
func (d *dict) Iterate() starlark.Iterator {
	if !d.frozen {
		d.walks++
	}
	return &dictIterator{d: d}
}

type dictIterator struct {
	d  *dict
	at int
}

func (it *dictIterator) Next(p *starlark.Value) bool {
	for it.at < len(it.d.entries) {
		e := it.d.entries[it.at]
		it.at++
		if e.key != nil {
			*p = e.key
			return true
		}
	}
	return false
}

func (it *dictIterator) Done() {
	if !it.d.frozen {
		it.d.walks--
	}
}

// String names the type, nothing more: a script's text of a dict is json's.
func (d *dict) String() string { return "dict" }

// Type is Starlark's name of the type.
func (d *dict) Type() string { return "dict" }

// Freeze keeps the dict from changing; what it holds is frozen by who made it.
func (d *dict) Freeze() { d.frozen = true }

// Truth is whether there is any entry.
func (d *dict) Truth() starlark.Bool { return d.Len() > 0 }

// Hash fails: a dict is no key.
func (d *dict) Hash() (uint32, error) { return 0, errUnhashable }

var errUnhashable = errors.New(keyRule)
