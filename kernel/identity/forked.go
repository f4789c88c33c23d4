package identity

import "github.com/omnikernel/omnikernel/kernel/bus"

// Origin says where an agent started that is a fork (LO-13).
type Origin struct {
	_    struct{} `cbor:",toarray"`
	ID   ID       // of the agent whose history it was
	Seq  uint64   // busSeq of the last record of it that counts
	Head [32]byte // that agent's own chain value there
}

// Forked is the body of a Forked record: the record's agent is a fork.
type Forked struct{ Origin }

// AppendTo writes the body's log form.
func (b *Forked) AppendTo(dst []byte) []byte {
	dst = append(dst, b.ID[:]...)
	dst = bus.AppendUint(dst, b.Seq)
	return append(dst, b.Head[:]...)
}

// DecodeForked reads the body of a Forked record.
func DecodeForked(raw []byte) (*Forked, bool) {
	d := bus.NewDecoder(raw)
	b := &Forked{}
	d.Fixed(b.ID[:])
	b.Seq = d.Uint()
	d.Fixed(b.Head[:])
	return b, d.Done()
}

// ApplyForked notes where the agent comes from.
func (r *Row) ApplyForked(b *Forked) {
	origin := b.Origin
	r.Origin = &origin
}
