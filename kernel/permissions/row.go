package permissions

import "github.com/omnikernel/omnikernel/kernel/bus"

// Row is the module's part of an agent's row.
type Row struct {
	_      struct{} `cbor:",toarray"`
	Grants uint32   // interned; 0 denies everything
}

// Assigned is the body of GrantsAssigned: row 1 of the lifecycle table gives
// an agent its grants.
type Assigned struct{ Grants uint32 }

// AppendTo writes the body's log form.
func (a *Assigned) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, uint64(a.Grants)) }

// DecodeAssigned reads the body of GrantsAssigned.
func DecodeAssigned(raw []byte) (*Assigned, bool) {
	d := bus.NewDecoder(raw)
	a := &Assigned{Grants: d.Uint32()}
	return a, d.Done()
}

// Apply takes a GrantsAssigned record in.
func (r *Row) Apply(a *Assigned) { r.Grants = a.Grants }

// ApplyArchived drops what a tombstone does not keep: the list is released.
func (r *Row) ApplyArchived() { r.Grants = 0 }

// Revoked is the body of GrantRevoked: one ALLOW of the agent was taken back,
// and the list that Revoke made is in force from now on.
type Revoked struct {
	Grant  int32  // position, the same in both lists
	Grants uint32 // the new list, interned
	Reason string
}

// AppendTo writes the body's log form.
func (b *Revoked) AppendTo(dst []byte) []byte {
	dst = bus.AppendInt(dst, int64(b.Grant))
	dst = bus.AppendUint(dst, uint64(b.Grants))
	return bus.AppendText(dst, b.Reason)
}

// DecodeRevoked reads the body of GrantRevoked.
func DecodeRevoked(raw []byte) (*Revoked, bool) {
	d := bus.NewDecoder(raw)
	grant, fits := position(d)
	b := &Revoked{Grant: grant, Grants: d.Uint32(), Reason: d.Text()}
	return b, d.Done() && fits
}

// ApplyRevoked takes a GrantRevoked record in.
func (r *Row) ApplyRevoked(b *Revoked) { r.Grants = b.Grants }

// Evaluation is the body of Allow and Deny: what was asked, and which grant
// of which list decided (PE-2). The list is in the log under its number.
type Evaluation struct {
	Action   string
	Resource string // as the agent says it; an ancestor's list is asked Upwards of it
	Grants   uint32
	Grant    int32  // DefaultDeny when none spoke of it
	Level    uint32 // the ancestor whose list decided; 0 for the agent's own
}

// AppendTo writes the body's log form.
func (e *Evaluation) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(dst, e.Action)
	dst = bus.AppendText(dst, e.Resource)
	dst = bus.AppendUint(dst, uint64(e.Grants))
	dst = bus.AppendInt(dst, int64(e.Grant))
	return bus.AppendUint(dst, uint64(e.Level))
}

// DecodeEvaluation reads the body of Allow and Deny.
func DecodeEvaluation(raw []byte) (*Evaluation, bool) {
	d := bus.NewDecoder(raw)
	e := &Evaluation{Action: d.Text(), Resource: d.Text(), Grants: d.Uint32()}
	grant, fits := position(d)
	e.Grant, e.Level = grant, d.Uint32()
	return e, d.Done() && fits
}

// position reads the place of a grant in its list, or DefaultDeny.
func position(d *bus.Decoder) (grant int32, fits bool) {
	n := d.Int()
	return int32(n), int64(int32(n)) == n
}
