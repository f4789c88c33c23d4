package bus_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/bus"
)

// What is appended is read back, in order, and nothing is left.
func TestWireRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u, n32 := rapid.Uint64().Draw(t, "uint"), rapid.Uint32().Draw(t, "uint32")
		i, yes := rapid.Int64().Draw(t, "int"), rapid.Bool().Draw(t, "bool")
		s, b := rapid.String().Draw(t, "text"), rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		raw := bus.AppendUint(nil, u)
		raw = bus.AppendUint(raw, uint64(n32))
		raw = bus.AppendInt(raw, i)
		raw = bus.AppendBool(raw, yes)
		raw = bus.AppendText(raw, s)
		raw = bus.AppendText(raw, b)
		raw = append(raw, 1, 2, 3, 4)

		d := bus.NewDecoder(raw)
		require.Equal(t, uint64(len(raw)), d.Left())
		require.Equal(t, u, d.Uint())
		require.Equal(t, n32, d.Uint32())
		require.Equal(t, i, d.Int())
		require.Equal(t, yes, d.Bool())
		require.Equal(t, s, d.Text())
		require.Equal(t, string(b), string(d.Bytes()))
		require.False(t, d.Done(), "four bytes are left")
		var fixed [4]byte
		d.Fixed(fixed[:])
		require.Equal(t, [4]byte{1, 2, 3, 4}, fixed)
		require.True(t, d.Done())
	})
}

// One value has one form: everything else is malformed, and stays so.
func TestWireIsStrict(t *testing.T) {
	for name, test := range map[string]struct {
		raw  []byte
		read func(*bus.Decoder)
	}{
		"no varint":          {nil, func(d *bus.Decoder) { d.Uint() }},
		"a varint cut":       {[]byte{0x80}, func(d *bus.Decoder) { d.Uint() }},
		"a long zero":        {[]byte{0x80, 0x00}, func(d *bus.Decoder) { d.Uint() }},
		"beyond 64 bits":     {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, func(d *bus.Decoder) { d.Uint() }},
		"beyond 32 bits":     {bus.AppendUint(nil, math.MaxUint32+1), func(d *bus.Decoder) { d.Uint32() }},
		"a bool of 2":        {[]byte{2}, func(d *bus.Decoder) { d.Bool() }},
		"no byte":            {nil, func(d *bus.Decoder) { d.Byte() }},
		"longer than it is":  {[]byte{2, 'x'}, func(d *bus.Decoder) { d.Bytes() }},
		"longer than memory": {bus.AppendUint(nil, math.MaxUint64), func(d *bus.Decoder) { d.Bytes() }},
		"too few fixed":      {[]byte{1}, func(d *bus.Decoder) { d.Fixed(make([]byte, 2)) }},
	} {
		d := bus.NewDecoder(test.raw)
		test.read(d)
		assert.False(t, d.Done(), name)
		assert.Zero(t, d.Uint(), "%s: what follows is zero", name)
		assert.Nil(t, d.Bytes(), name)
		assert.False(t, d.Done(), name)
	}
	require.Equal(t, uint32(math.MaxUint32), bus.NewDecoder(bus.AppendUint(nil, math.MaxUint32)).Uint32())
	require.Nil(t, bus.NewDecoder([]byte{0}).Bytes(), "nothing is nil")
}

type word string

func (w word) AppendTo(dst []byte) []byte { return append(dst, w...) }

// A batch keeps its order, and lets bodies go when it is emptied.
func TestBatch(t *testing.T) {
	var b bus.Batch
	b.Add(bus.Record{Kind: bus.Event, Body: word("a")})
	b.Add(bus.Record{Kind: bus.Outcome, Body: word("b")})
	require.Equal(t, 2, b.Len())
	records := b.Records()
	require.Equal(t, bus.Outcome, records[1].Kind)
	b.Reset()
	require.Zero(t, b.Len())
	require.Nil(t, records[0].Body)
}
