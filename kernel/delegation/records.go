package delegation

import (
	"math"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// MaxChildren bounds how many children one request may name.
const MaxChildren = 1000

// TokenIssued is the body of the record of the same name: the token, whole,
// and the request that it came of (kernel-architecture.md section 6, rule 6).
type TokenIssued struct {
	Token    [16]byte
	Parent   uint32 // 0: a root agent's
	Grants   uint32 // interned
	Depth    uint32
	Expires  int64
	Timer    uint64
	Tick     uint64
	Call     uint32
	Position uint32
}

// AppendTo writes the body's log form.
func (b *TokenIssued) AppendTo(dst []byte) []byte {
	dst = append(dst, b.Token[:]...)
	dst = bus.AppendUint(dst, uint64(b.Parent))
	dst = bus.AppendUint(dst, uint64(b.Grants))
	dst = bus.AppendUint(dst, uint64(b.Depth))
	dst = bus.AppendInt(dst, b.Expires)
	dst = bus.AppendUint(dst, b.Timer)
	dst = bus.AppendUint(dst, b.Tick)
	dst = bus.AppendUint(dst, uint64(b.Call))
	return bus.AppendUint(dst, uint64(b.Position))
}

// DecodeTokenIssued reads the body of TokenIssued.
func DecodeTokenIssued(raw []byte) (*TokenIssued, bool) {
	d := bus.NewDecoder(raw)
	b := &TokenIssued{}
	d.Fixed(b.Token[:])
	b.Parent, b.Grants, b.Depth, b.Expires = d.Uint32(), d.Uint32(), d.Uint32(), d.Int()
	b.Timer, b.Tick, b.Call, b.Position = d.Uint(), d.Uint(), d.Uint32(), d.Uint32()
	root := b.Parent == 0
	return b, d.Done() && b.Position < MaxChildren && !(root && (b.Tick != 0 || b.Call != 0 || b.Position != 0))
}

// TokenRevoked is the body of the record of the same name, with the token as
// it was.
type TokenRevoked struct {
	Code    failure.Code // TOKEN_REVOKED or TOKEN_EXPIRED
	Reason  string
	Token   [16]byte
	Parent  uint32
	Grants  uint32
	Depth   uint32
	Expires int64
	Cascade bool // what rests on it is to be visited
	Cursor  bool // the oldest cascade has reached the agent
}

// AppendTo writes the body's log form.
func (b *TokenRevoked) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(dst, b.Code)
	dst = bus.AppendText(dst, b.Reason)
	dst = append(dst, b.Token[:]...)
	dst = bus.AppendUint(dst, uint64(b.Parent))
	dst = bus.AppendUint(dst, uint64(b.Grants))
	dst = bus.AppendUint(dst, uint64(b.Depth))
	dst = bus.AppendInt(dst, b.Expires)
	return bus.AppendBool(bus.AppendBool(dst, b.Cascade), b.Cursor)
}

// DecodeTokenRevoked reads the body of TokenRevoked.
func DecodeTokenRevoked(raw []byte) (*TokenRevoked, bool) {
	d := bus.NewDecoder(raw)
	b := &TokenRevoked{Code: failure.Code(d.Text()), Reason: d.Text()}
	d.Fixed(b.Token[:])
	b.Parent, b.Grants, b.Depth, b.Expires = d.Uint32(), d.Uint32(), d.Uint32(), d.Int()
	b.Cascade, b.Cursor = d.Bool(), d.Bool()
	return b, d.Done() && b.Code != ""
}

// ChildrenVoided is the body of ChildrenRevoked: every token below the agent
// is void from this record on (LC-10, FA-2).
type ChildrenVoided struct{ Code failure.Code }

// AppendTo writes the body's log form.
func (b *ChildrenVoided) AppendTo(dst []byte) []byte { return bus.AppendText(dst, b.Code) }

// DecodeChildrenVoided reads the body of ChildrenRevoked.
func DecodeChildrenVoided(raw []byte) (*ChildrenVoided, bool) {
	d := bus.NewDecoder(raw)
	b := &ChildrenVoided{Code: failure.Code(d.Text())}
	return b, d.Done() && b.Code != ""
}

// DelegationAccepted is the body of the record of the same name: the children
// are numbered densely from First, in request order (DE-3).
type DelegationAccepted struct {
	Call     uint32
	First    uint32
	Count    uint32
	FailFast bool
	Handler  bool
	Detached bool
	Deadline int64
	Timer    uint64
}

// AppendTo writes the body's log form.
func (b *DelegationAccepted) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendUint(dst, uint64(b.First))
	dst = bus.AppendUint(dst, uint64(b.Count))
	dst = bus.AppendBool(dst, b.FailFast)
	dst = bus.AppendBool(dst, b.Handler)
	dst = bus.AppendBool(dst, b.Detached)
	dst = bus.AppendInt(dst, b.Deadline)
	return bus.AppendUint(dst, b.Timer)
}

// DecodeDelegationAccepted reads the body of DelegationAccepted.
func DecodeDelegationAccepted(raw []byte) (*DelegationAccepted, bool) {
	d := bus.NewDecoder(raw)
	b := &DelegationAccepted{
		Call: d.Uint32(), First: d.Uint32(), Count: d.Uint32(), FailFast: d.Bool(), Handler: d.Bool(), Detached: d.Bool(),
		Deadline: d.Int(), Timer: d.Uint(),
	}
	return b, d.Done() && b.possible()
}

// possible reports whether there can be such children: at least one, not too
// many, and numbered.
func (b *DelegationAccepted) possible() bool {
	return b.First > 0 && b.Count > 0 && b.Count <= MaxChildren && b.First <= math.MaxUint32-b.Count
}

// DelegationRejected is the body of the record of the same name: the rule that
// the request broke (DE-2).
type DelegationRejected struct {
	Call  uint32
	Code  failure.Code
	Field string
	Rule  string
}

// AppendTo writes the body's log form.
func (b *DelegationRejected) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendText(dst, b.Code)
	dst = bus.AppendText(dst, b.Field)
	return bus.AppendText(dst, b.Rule)
}

// DecodeDelegationRejected reads the body of DelegationRejected.
func DecodeDelegationRejected(raw []byte) (*DelegationRejected, bool) {
	d := bus.NewDecoder(raw)
	b := &DelegationRejected{Call: d.Uint32(), Code: failure.Code(d.Text()), Field: d.Text(), Rule: d.Text()}
	return b, d.Done() && b.Code != ""
}

// ChildResult is the body of ChildResult and of ChildFailure, which is the
// specification's ChildFailureEvent: the record's agent, a child of the named
// request, is TERMINATED. The value itself stands in its TickCompleted. With OK
// there is neither code nor class nor message.
type ChildResult struct {
	Parent   uint32
	Tick     uint64
	Call     uint32
	Position uint32
	OK       bool
	Code     failure.Code
	Class    failure.Class
	Message  string
}

// AppendTo writes the body's log form.
func (b *ChildResult) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, uint64(b.Parent))
	dst = bus.AppendUint(dst, b.Tick)
	dst = bus.AppendUint(dst, uint64(b.Call))
	dst = bus.AppendUint(dst, uint64(b.Position))
	dst = bus.AppendBool(dst, b.OK)
	dst = bus.AppendText(dst, b.Code)
	dst = append(dst, byte(b.Class))
	return bus.AppendText(dst, b.Message)
}

// DecodeChildResult reads the body of ChildResult and ChildFailure.
func DecodeChildResult(raw []byte) (*ChildResult, bool) {
	d := bus.NewDecoder(raw)
	b := &ChildResult{
		Parent: d.Uint32(), Tick: d.Uint(), Call: d.Uint32(), Position: d.Uint32(), OK: d.Bool(),
		Code: failure.Code(d.Text()), Class: failure.Class(d.Byte()), Message: d.Text(),
	}
	return b, d.Done() && b.possible()
}

func (b *ChildResult) possible() bool {
	if b.Parent == 0 || b.Position >= MaxChildren || b.Class > failure.InvariantBreach || b.OK != (b.Code == "") {
		return false
	}
	return !b.OK || b.Class == failure.Unclassified && b.Message == ""
}

// DelegationOver is the body of the record of the same name: the request has
// its answer, or nobody wants it any more.
type DelegationOver struct{ Call uint32 }

// AppendTo writes the body's log form.
func (b *DelegationOver) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, uint64(b.Call)) }

// DecodeDelegationOver reads the body of DelegationOver.
func DecodeDelegationOver(raw []byte) (*DelegationOver, bool) {
	d := bus.NewDecoder(raw)
	b := &DelegationOver{Call: d.Uint32()}
	return b, d.Done()
}

// ParentTerminated is the body of the record of the same name, the
// specification's ParentTerminatedEvent.
type ParentTerminated struct{ Parent uint32 }

// AppendTo writes the body's log form.
func (b *ParentTerminated) AppendTo(dst []byte) []byte { return bus.AppendUint(dst, uint64(b.Parent)) }

// DecodeParentTerminated reads the body of ParentTerminated.
func DecodeParentTerminated(raw []byte) (*ParentTerminated, bool) {
	d := bus.NewDecoder(raw)
	b := &ParentTerminated{Parent: d.Uint32()}
	return b, d.Done() && b.Parent != 0
}

// RequestCancelled is the body of the record of the same name.
type RequestCancelled struct {
	Tick uint64
	Call uint32
	Code failure.Code // WAIT_TIMEOUT: its time is over
}

// AppendTo writes the body's log form.
func (b *RequestCancelled) AppendTo(dst []byte) []byte {
	dst = bus.AppendUint(dst, b.Tick)
	dst = bus.AppendUint(dst, uint64(b.Call))
	return bus.AppendText(dst, b.Code)
}

// DecodeRequestCancelled reads the body of RequestCancelled.
func DecodeRequestCancelled(raw []byte) (*RequestCancelled, bool) {
	d := bus.NewDecoder(raw)
	b := &RequestCancelled{Tick: d.Uint(), Call: d.Uint32(), Code: failure.Code(d.Text())}
	return b, d.Done() && b.Code != ""
}

// CascadeMoved is the body of the record of the same name: the oldest cascade
// has visited At, or is through.
type CascadeMoved struct {
	At   uint32
	Done bool
}

// AppendTo writes the body's log form.
func (b *CascadeMoved) AppendTo(dst []byte) []byte {
	return bus.AppendBool(bus.AppendUint(dst, uint64(b.At)), b.Done)
}

// DecodeCascadeMoved reads the body of CascadeMoved.
func DecodeCascadeMoved(raw []byte) (*CascadeMoved, bool) {
	d := bus.NewDecoder(raw)
	b := &CascadeMoved{At: d.Uint32(), Done: d.Bool()}
	return b, d.Done() && (b.Done || b.At != 0) // 0 would begin the walk again
}
