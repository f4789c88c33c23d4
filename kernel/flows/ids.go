package flows

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/google/uuid"
	"github.com/omnikernel/omnikernel/kernel/identity"
)

// ParseID reads a UUID in its canonical 36-character form, lower case.
func ParseID(s string) (identity.ID, bool) {
	if len(s) != 36 {
		return identity.ID{}, false
	}
	id, err := uuid.Parse(s)
	if err != nil || id.String() != s || id == uuid.Nil {
		return identity.ID{}, false
	}
	return identity.ID(id), true
}

// FormatID writes it.
func FormatID(id identity.ID) string { return uuid.UUID(id).String() }

// derived makes an identifier inside Apply: UUIDv5 of a parent and ordinals (EV-10).
func derived(parent [16]byte, ordinals ...uint64) identity.ID {
	name := make([]byte, 0, 32)
	for _, n := range ordinals {
		name = binary.BigEndian.AppendUint64(name, n)
	}
	return identity.ID(uuid.NewSHA1(uuid.UUID(parent), name))
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
