package delegation_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// body lifts a decoder to what the tests need of it.
func body[T bus.Body](decode func([]byte) (T, bool)) func([]byte) (bus.Body, bool) {
	return func(raw []byte) (bus.Body, bool) {
		b, ok := decode(raw)
		return b, ok
	}
}

var decoders = []func([]byte) (bus.Body, bool){
	body(delegation.DecodeTokenIssued), body(delegation.DecodeTokenRevoked), body(delegation.DecodeChildrenVoided),
	body(delegation.DecodeDelegationAccepted), body(delegation.DecodeDelegationRejected), body(delegation.DecodeChildResult),
	body(delegation.DecodeDelegationOver), body(delegation.DecodeParentTerminated), body(delegation.DecodeRequestCancelled),
	body(delegation.DecodeCascadeMoved),
}

// bodies are one or more of each kind, with the number of its decoder.
func bodies() (list []bus.Body, decoder []int) {
	add := func(n int, b bus.Body) { list, decoder = append(list, b), append(decoder, n) }
	id := [16]byte{1, 15: 2}
	add(0, &delegation.TokenIssued{Token: id, Parent: 3, Grants: 4, Depth: 5, Expires: -6, Timer: 7, Tick: 8, Call: 900, Position: 999})
	add(0, &delegation.TokenIssued{Token: id, Grants: 1, Depth: 2})
	add(1, &delegation.TokenRevoked{
		Code: failure.TokenRevoked, Reason: "why", Token: id, Parent: 3, Grants: 4, Depth: 5, Expires: 1 << 40, Cascade: true,
	})
	add(1, &delegation.TokenRevoked{Code: failure.TokenExpired, Cursor: true})
	add(2, &delegation.ChildrenVoided{Code: failure.Killed})
	add(3, &delegation.DelegationAccepted{Call: 1, First: 2, Count: delegation.MaxChildren, FailFast: true, Deadline: 5, Timer: 6})
	add(3, &delegation.DelegationAccepted{Call: 1, First: math.MaxUint32 - 1, Count: 1, Handler: true, Detached: true})
	add(4, &delegation.DelegationRejected{Call: 2, Code: failure.Rejected, Field: "children[0].grants[1]", Rule: "is not contained"})
	add(5, &delegation.ChildResult{Parent: 1, Tick: 2, Call: 3, Position: 4, OK: true})
	add(5, &delegation.ChildResult{Parent: 1, Tick: 2, Code: failure.Killed, Class: failure.Permanent, Message: "m"})
	add(6, &delegation.DelegationOver{Call: 300})
	add(7, &delegation.ParentTerminated{Parent: 1})
	add(8, &delegation.RequestCancelled{Tick: 1, Call: 2, Code: failure.WaitTimeout})
	add(9, &delegation.CascadeMoved{At: 70_000})
	add(9, &delegation.CascadeMoved{Done: true})
	return list, decoder
}

// Bodies come back from the log as they were, and not from anything shorter or
// longer.
func TestBodies(t *testing.T) {
	list, decoder := bodies()
	for i, b := range list {
		raw := b.AppendTo(nil)
		decoded, ok := decoders[decoder[i]](raw)
		require.True(t, ok, "%+v", b)
		require.Equal(t, b, decoded)
		for cut := range raw {
			_, ok := decoders[decoder[i]](raw[:cut])
			assert.False(t, ok, "%+v cut to %d", b, cut)
		}
		_, ok = decoders[decoder[i]](append(bytes.Clone(raw), 0))
		assert.False(t, ok, "%+v with a byte more", b)
	}
}

// What no flow can have made does not decode: a void that says no reason, a
// request of nobody, of too many, of numbers that there cannot be, a cascade
// that begins again.
func TestImpossibleBodies(t *testing.T) {
	for _, test := range []struct {
		decoder int
		body    bus.Body
	}{
		{0, &delegation.TokenIssued{Tick: 1}},
		{0, &delegation.TokenIssued{Call: 1}},
		{0, &delegation.TokenIssued{Position: 1}},
		{0, &delegation.TokenIssued{Parent: 1, Tick: 1, Call: 1, Position: delegation.MaxChildren}},
		{1, &delegation.TokenRevoked{}},
		{2, &delegation.ChildrenVoided{}},
		{3, &delegation.DelegationAccepted{First: 0, Count: 1}},
		{3, &delegation.DelegationAccepted{First: 1, Count: 0}},
		{3, &delegation.DelegationAccepted{First: 1, Count: delegation.MaxChildren + 1}},
		{3, &delegation.DelegationAccepted{First: math.MaxUint32 - 3, Count: 4}},
		{4, &delegation.DelegationRejected{Call: 1, Rule: "says no code"}},
		{5, &delegation.ChildResult{OK: true}},
		{5, &delegation.ChildResult{Parent: 1}},
		{5, &delegation.ChildResult{Parent: 1, OK: true, Code: failure.Killed}},
		{5, &delegation.ChildResult{Parent: 1, OK: true, Class: failure.Permanent}},
		{5, &delegation.ChildResult{Parent: 1, OK: true, Message: "m"}},
		{5, &delegation.ChildResult{Parent: 1, OK: true, Position: delegation.MaxChildren}},
		{5, &delegation.ChildResult{Parent: 1, Code: failure.Killed, Class: failure.InvariantBreach + 1}},
		{7, &delegation.ParentTerminated{}},
		{8, &delegation.RequestCancelled{Tick: 1, Call: 1}},
		{9, &delegation.CascadeMoved{}},
	} {
		_, ok := decoders[test.decoder](test.body.AppendTo(nil))
		assert.False(t, ok, "%T %+v", test.body, test.body)
	}
}

// Bytes that decode are the bytes that the body gives: one body, one form.
func FuzzDecode(f *testing.F) {
	list, decoder := bodies()
	for i, b := range list {
		f.Add(byte(decoder[i]), b.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, which byte, raw []byte) {
		if b, ok := decoders[int(which)%len(decoders)](raw); ok {
			require.Equal(t, string(raw), string(b.AppendTo(nil)))
		}
	})
}
