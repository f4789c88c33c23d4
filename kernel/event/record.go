package event

import "github.com/omnikernel/omnikernel/kernel/bus"

// Recorded is the body of the record that stands first in every block: the
// event itself, whole, so that the execution log needs nothing beside it.
type Recorded struct{ Event *Event }

// AppendTo writes the body's log form: the envelope without its checksum,
// which the block's own covers.
func (r *Recorded) AppendTo(dst []byte) []byte {
	e := r.Event
	dst = bus.AppendUint(dst, uint64(e.Kind))
	dst = bus.AppendInt(dst, e.Wall)
	dst = bus.AppendText(dst, e.Principal)
	dst = bus.AppendBool(dst, e.Session.Present())
	if e.Session.Present() {
		dst = append(dst, e.Session.ID[:]...)
		dst = bus.AppendUint(dst, e.Session.Seq)
		dst = bus.AppendUint(dst, e.Session.Floor)
	}
	dst = bus.AppendText(dst, e.IdempotencyKey)
	return bus.AppendText(dst, e.Body)
}

// DecodeRecorded reads the body of an Event record.
func DecodeRecorded(raw []byte) (*Recorded, bool) {
	d := bus.NewDecoder(raw)
	kind := d.Uint()
	e := &Event{Kind: Kind(kind), Wall: d.Int(), Principal: d.Text()}
	session := e.Session.decode(d)
	e.IdempotencyKey, e.Body = d.Text(), d.Bytes()
	return &Recorded{Event: e}, d.Done() && session && kind <= 1<<16-1
}

// VersionIn is the kernel version that an event of a node's takes the state to; 0 for
// one that leaves it where it is. It reads bodies of versions that this binary does
// not know.
func VersionIn(e *Event) uint32 {
	if e.Kind != KernelBooted && e.Kind != KernelUpgraded {
		return 0
	}
	part, ok := DecodePart[struct {
		Version uint32 `cbor:"1,keyasint"`
	}](e.Body)
	if !ok {
		return 0 // Apply says what is wrong with it
	}
	return part.Version
}

// AppendTo writes the log form of a KernelUpgraded record's body.
func (u *Upgraded) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(bus.AppendUint(dst, uint64(u.Version)), u.LogWarnBytes), u.LogErrorBytes)
}

// DecodeUpgraded reads the body of a KernelUpgraded record.
func DecodeUpgraded(raw []byte) (*Upgraded, bool) {
	d := bus.NewDecoder(raw)
	u := &Upgraded{Version: d.Uint32(), LogWarnBytes: d.Uint(), LogErrorBytes: d.Uint()}
	return u, d.Done()
}

// AppendTo writes the log form of a ClusterRestored record's body.
func (r *Restored) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(bus.AppendText(dst, r.From), r.To)
	return append(bus.AppendUint(dst, r.Index), r.Chain[:]...)
}

// DecodeRestored reads the body of a ClusterRestored record.
func DecodeRestored(raw []byte) (*Restored, bool) {
	d := bus.NewDecoder(raw)
	r := &Restored{From: d.Text(), To: d.Text(), Index: d.Uint()}
	d.Fixed(r.Chain[:])
	return r, d.Done()
}
