package memory

import (
	"crypto/sha256"

	"github.com/omnikernel/omnikernel/kernel/bus"
)

// Checksum is the SHA-256 over an agent's persistent memory and the bytes that
// stand for its frozen tick (ME-3). Input, after the agent's number: for each
// entry in order of keys a 1, then key, version, writer, time and value; a 0;
// the frozen bytes. Numbers are varints, texts have their length before them,
// so that no two states give the same input.
func (t *Tables) Checksum(agent uint32, frozen []byte) [32]byte {
	h := sha256.New()
	buf := bus.AppendUint(make([]byte, 0, MaxKeyBytes+64), uint64(agent))
	t.entries.From(place{agent: agent}, func(c place, e *Entry) bool {
		if c.agent != agent {
			return false
		}
		buf = bus.AppendText(append(buf, 1), e.Key)
		buf = bus.AppendUint(buf, e.Version)
		buf = bus.AppendUint(buf, uint64(e.Writer))
		buf = bus.AppendInt(buf, e.At)
		buf = bus.AppendUint(buf, uint64(len(e.Value)))
		h.Write(buf)
		h.Write(e.Value)
		buf = buf[:0]
		return true
	})
	h.Write(bus.AppendUint(append(buf, 0), uint64(len(frozen))))
	h.Write(frozen)
	return [32]byte(h.Sum(nil))
}

// Snapshotted is the body of a MemorySnapshotted record: suspend wrote a
// snapshot (row 6 of the lifecycle table).
type Snapshotted struct {
	Tick     uint64
	Checksum [32]byte
}

// AppendTo writes the body's log form.
func (b *Snapshotted) AppendTo(dst []byte) []byte {
	return append(bus.AppendUint(dst, b.Tick), b.Checksum[:]...)
}

// DecodeSnapshotted reads the body of a MemorySnapshotted record.
func DecodeSnapshotted(raw []byte) (*Snapshotted, bool) {
	d := bus.NewDecoder(raw)
	b := &Snapshotted{Tick: d.Uint()}
	d.Fixed(b.Checksum[:])
	return b, d.Done()
}

// ApplySnapshotted keeps the snapshot.
func (r *Row) ApplySnapshotted(at bus.At, b *Snapshotted) {
	r.Snapshot = &Snapshot{Tick: b.Tick, Checksum: b.Checksum, Seq: at.Seq}
}

// SnapshotDropped is the body of a MemorySnapshotDropped record: the agent was
// resumed, or has expired (rows 9 and 10).
type SnapshotDropped struct{}

// AppendTo writes nothing.
func (SnapshotDropped) AppendTo(dst []byte) []byte { return dst }

// DecodeSnapshotDropped accepts an empty body only.
func DecodeSnapshotDropped(raw []byte) (SnapshotDropped, bool) {
	return SnapshotDropped{}, len(raw) == 0
}

// ApplySnapshotDropped forgets the snapshot.
func (r *Row) ApplySnapshotDropped() { r.Snapshot = nil }
