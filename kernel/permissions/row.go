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

// Evaluation is the body of Allow and Deny: what was asked, and which grant
// of which list decided (PE-2). The list is in the log under its number.
type Evaluation struct {
	Action   string
	Resource string
	Grants   uint32
	Grant    int32 // DefaultDeny when none spoke of it
}

// AppendTo writes the body's log form.
func (e *Evaluation) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(dst, e.Action)
	dst = bus.AppendText(dst, e.Resource)
	dst = bus.AppendUint(dst, uint64(e.Grants))
	return bus.AppendInt(dst, int64(e.Grant))
}

// DecodeEvaluation reads the body of Allow and Deny.
func DecodeEvaluation(raw []byte) (*Evaluation, bool) {
	d := bus.NewDecoder(raw)
	e := &Evaluation{Action: d.Text(), Resource: d.Text(), Grants: d.Uint32()}
	grant := d.Int()
	e.Grant = int32(grant)
	return e, d.Done() && int64(e.Grant) == grant
}
