package flows

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// ParseID reads a UUID in its canonical 36-character form, lower case.
func ParseID(s string) (identity.ID, bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return identity.ID{}, false
	}
	var id identity.ID
	for i, at := range [...]int{0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34} {
		high, low := nibble(s[at]), nibble(s[at+1])
		if high|low > 0xf {
			return identity.ID{}, false
		}
		id[i] = high<<4 | low
	}
	return id, id != identity.ID{}
}

// nibble reads a lower-case hexadecimal digit; above 15 for anything else.
func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}

// FormatID writes it.
func FormatID(id identity.ID) string { return uuid.UUID(id).String() }

// TxID names one access to memory (EV-11): UUIDv5 of who asked, in which tick,
// with which call. What an operator writes belongs to no agent: its name is that
// of the zero agent, with the record's busSeq in the tick's place and call 0.
func TxID(agent identity.ID, tick uint64, call uint32) identity.ID {
	return derived(agent, tick, uint64(call))
}

// derived makes an identifier inside Apply: UUIDv5 (RFC 9562 section 5.5) of a
// parent and ordinals (EV-10).
func derived(parent [16]byte, ordinals ...uint64) identity.ID {
	var room [16 + 4*8]byte
	name := append(room[:0], parent[:]...)
	for _, n := range ordinals {
		name = binary.BigEndian.AppendUint64(name, n)
	}
	sum := sha1.Sum(name)
	id := identity.ID(sum[:16])
	id[6] = id[6]&0x0f | 5<<4
	id[8] = id[8]&0x3f | 0x80
	return id
}

// seedOf is what an agent's randomness starts from, and who it is to it: the
// cluster's seed and the agent's id. In a run that has a seed of its own it is
// that seed and the agent's place in the run's tree, so that runs which do the same
// draw the same (EV-10).
func (v View) seedOf(t Target) (seed [16]byte, who identity.ID) {
	if v.Runs.Len() > 0 {
		root := t.No
		for row := t.Row; row.Delegation.Parent != 0; row = v.Agents.Get(root) {
			root = row.Delegation.Parent
		}
		if run := v.Runs.Get(root); run != nil && run.Seed != "" {
			sum := sha256.Sum256([]byte(run.Seed))
			return [16]byte(sum[:]), v.placeInTree(t.Row)
		}
	}
	return v.Config.Seed, t.Row.Identity.ID
}

// placeInTree names an agent by the requests that led to it: zero for a root.
func (v View) placeInTree(row *state.Row) identity.ID {
	d := &row.Delegation
	if d.Parent == 0 {
		return identity.ID{}
	}
	return derived(v.placeInTree(v.Agents.Get(d.Parent)), d.Tick, uint64(d.Call), uint64(d.Position))
}

// random yields the nth 64 random bits of a call, from the cluster's seed,
// the agent, the tick and the call (EV-10).
func random(seed [16]byte, agent identity.ID, tick uint64, call uint32, nth uint64) uint64 {
	var b [16 + 16 + 8 + 4 + 8]byte
	copy(b[0:], seed[:])
	copy(b[16:], agent[:])
	binary.BigEndian.PutUint64(b[32:], tick)
	binary.BigEndian.PutUint32(b[40:], call)
	binary.BigEndian.PutUint64(b[44:], nth)
	sum := sha256.Sum256(b[:])
	return binary.BigEndian.Uint64(sum[:])
}
