package event

import "github.com/omnikernel/omnikernel/kernel/bus"

// Order is the body of OperatorOrder: what nodes are about to do in an operator's name
// and the kernel does not do itself. It is committed first, so that whoever may not is
// refused at its place in the log, and done then (AU-10).
type Order struct {
	Action   string `cbor:"1,keyasint" json:"action" doc:"in the words of roles' grants: cluster.member.remove, node.pause, backup.create …"`
	Resource string `cbor:"2,keyasint" json:"resource" doc:"a node's id; _ for the cluster as a whole"`
	Detail   string `cbor:"3,keyasint,omitempty" json:"detail,omitempty" doc:"for people, 0 to 256 bytes"`
}

// Ordered is the body of an OperatorOrdered record.
type Ordered struct {
	By string // the operator's principal
	Order
}

// AppendTo writes the body's log form.
func (b *Ordered) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(bus.AppendText(dst, b.By), b.Action)
	return bus.AppendText(bus.AppendText(dst, b.Resource), b.Detail)
}

// DecodeOrdered reads the body of OperatorOrdered.
func DecodeOrdered(raw []byte) (*Ordered, bool) {
	d := bus.NewDecoder(raw)
	b := &Ordered{By: d.Text(), Order: Order{Action: d.Text(), Resource: d.Text(), Detail: d.Text()}}
	return b, d.Done()
}
