package logging

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawEntries draws the records of a block.
func drawEntries(t *rapid.T) []entry {
	n := rapid.IntRange(1, 12).Draw(t, "records")
	entries := make([]entry, n)
	for i := range entries {
		entries[i] = entry{
			Header: Header{
				Kind:  rapid.Uint16().Draw(t, "kind"),
				Agent: rapid.OneOf(rapid.Uint32Range(0, MaxAgent), rapid.Uint32Range(0, 3)).Draw(t, "agent"),
				Tick:  rapid.Uint64().Draw(t, "tick"),
				Step:  rapid.Uint32().Draw(t, "step"),
				Cause: rapid.Uint32Range(0, uint32(max(i, 1)-1)).Draw(t, "cause"),
			},
			body: string(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")),
		}
	}
	return entries
}

// What was written is what is read: every field of every record (EV-3).
func TestBlockRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		index := rapid.Uint64Range(1, math.MaxUint64).Draw(t, "index")
		term := rapid.Uint64().Draw(t, "term")
		first := rapid.Uint64Range(1, math.MaxUint64-20).Draw(t, "first")
		clock := rapid.Int64().Draw(t, "clock")
		entries := drawEntries(t)
		pointers, heads := map[uint32]uint64{}, map[uint32][HashBytes]byte{}
		var b Builder
		b.Begin(index, term, first, clock)
		for i, e := range entries {
			require.Equal(t, first+uint64(i), b.Open(e.Header))
			b.Buf = append(b.Buf, e.body...)
			b.Close()
			if e.Agent == 0 {
				continue
			}
			p := rapid.Uint64().Draw(t, "pointer")
			head := [HashBytes]byte(rapid.SliceOfN(rapid.Byte(), HashBytes, HashBytes).Draw(t, "head"))
			if _, again := pointers[e.Agent]; !again {
				pointers[e.Agent], heads[e.Agent] = p, head
			}
			b.Touch(e.Agent, p, head)
		}
		if run := rapid.Uint32Range(0, 3).Draw(t, "run"); run > 0 { // RU-4
			subject := RunSubject(run)
			pointers[subject], heads[subject] = 7, [HashBytes]byte{7}
			b.Touch(subject, 7, heads[subject])
		}
		prev := [HashBytes]byte(rapid.SliceOfN(rapid.Byte(), HashBytes, HashBytes).Draw(t, "chain"))
		raw, digest := b.Seal(prev)

		block, err := Decode(raw)
		require.NoError(t, err)
		assert.Equal(t, index, block.Index)
		assert.Equal(t, term, block.Term)
		assert.Equal(t, first, block.FirstSeq)
		assert.Equal(t, first+uint64(len(entries))-1, block.LastSeq())
		assert.Equal(t, clock, block.ClockMillis)
		assert.Equal(t, prev, block.PrevChain)
		assert.Equal(t, digest, block.Digest())
		assert.Equal(t, ChainAfter(prev, digest), block.Chain())
		var read []entry
		for records := block.Records(); records.Next(); {
			assert.Equal(t, first+uint64(len(read)), records.Record.Seq)
			read = append(read, entry{records.Record.Header, string(records.Record.Body)})
		}
		assert.Equal(t, entries, read)
		assert.Equal(t, len(pointers), block.Touched())
		for i := range block.Touched() {
			agent, _ := block.TouchedAt(i)
			assert.Equal(t, heads[agent], block.HeadAt(i))
		}
		for agent, pointer := range pointers {
			got, ok := block.Previous(agent)
			require.True(t, ok)
			assert.Equal(t, pointer, got)
		}
	})
}

// A block that lost its end at any byte is Truncated; one that has grown has a
// BadLength.
func TestDecodeTruncatedAndGrown(t *testing.T) {
	blocks, _ := chainOfBlocks(3, DefaultSegmentBytes)
	raw := blocks[2]
	for n := range len(raw) {
		_, err := Decode(raw[:n])
		var problem *DecodeError
		require.ErrorAs(t, err, &problem)
		require.Equal(t, Truncated, problem.Reason, "%d bytes of %d", n, len(raw))
	}
	_, err := Decode(append(raw[:len(raw):len(raw)], 0))
	assert.Equal(t, &DecodeError{Reason: BadLength, Offset: uint32(len(raw))}, err)
}

// Every single flipped bit is noticed.
func TestDecodeFlippedBits(t *testing.T) {
	blocks, _ := chainOfBlocks(3, DefaultSegmentBytes)
	raw := blocks[2]
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		_, err := Decode(raw)
		require.Error(t, err, "bit %d", bit)
		raw[bit/8] ^= 1 << (bit % 8)
	}
	_, err := Decode(raw)
	assert.NoError(t, err)
}

// handmade gives a block with a right checksum whose records and touched list
// are as given, and whose fixed part is then changed.
func handmade(count uint32, records, touched string, change func(head []byte)) []byte {
	head := make([]byte, HeaderBytes)
	binary.LittleEndian.PutUint64(head[offsetIndex:], 1)
	binary.LittleEndian.PutUint64(head[offsetFirstSeq:], 1)
	binary.LittleEndian.PutUint32(head[offsetCount:], count)
	binary.LittleEndian.PutUint32(head[offsetTouched:], uint32(HeaderBytes+len(records)))
	if change != nil {
		change(head)
	}
	return resealed(append(append(head, records...), touched...))
}

// A right checksum does not make a block: every rule of the layout is checked.
func TestDecodeMalformed(t *testing.T) {
	const plain = "\x01\x00\x00\x00\x00\x00" // kind 1, no agent, empty body
	const agent = "\x01\x05\x00\x00\x00\x00" // the same for agent 5
	touched := func(agents ...byte) string {
		list := ""
		for _, a := range agents {
			list += string([]byte{0: a, 4: 9, 43: 0})
		}
		return list
	}
	run := func(no byte) string { return string([]byte{0: no, 3: 0x80, 4: 9, 43: 0}) }
	put := func(at int, x uint64) func([]byte) {
		return func(head []byte) { binary.LittleEndian.PutUint64(head[at:], x) }
	}
	put32 := func(at int, x uint32) func([]byte) {
		return func(head []byte) { binary.LittleEndian.PutUint32(head[at:], x) }
	}
	tests := map[string]struct {
		raw    []byte
		reason Reason
	}{
		"good":                   {handmade(1, plain, "", nil), 0},
		"good with agent":        {handmade(2, plain+agent, touched(5), nil), 0},
		"good, touched only":     {handmade(1, plain, touched(3, 5), nil), 0},
		"good with a run":        {handmade(1, plain, touched(5)+run(5), nil), 0},
		"format 1":               {handmade(1, plain, "", func(h []byte) { h[offsetFormat] = 1 }), UnknownFormat},
		"index 0":                {handmade(1, plain, "", put(offsetIndex, 0)), BadHeader},
		"busSeq 0":               {handmade(1, plain, "", put(offsetFirstSeq, 0)), BadHeader},
		"busSeq overflows":       {handmade(1, plain, "", put(offsetFirstSeq, math.MaxUint64)), BadHeader},
		"no records":             {handmade(0, plain, "", nil), BadHeader},
		"list inside the head":   {handmade(1, plain, "", put32(offsetTouched, HeaderBytes-1)), BadHeader},
		"list beyond the end":    {handmade(1, plain, "", put32(offsetTouched, HeaderBytes+7)), BadHeader},
		"one record too few":     {handmade(2, plain, "", nil), BadRecord},
		"one record too many":    {handmade(1, plain+plain, "", nil), BadRecord},
		"very many records":      {handmade(math.MaxUint32, plain, "", nil), BadRecord},
		"bytes after records":    {handmade(1, plain+"\x00", "", nil), BadRecord},
		"long form of kind":      {handmade(1, "\x81\x00\x00\x00\x00\x00\x00", "", nil), BadRecord},
		"kind above 16 bits":     {handmade(1, "\x80\x80\x04\x00\x00\x00\x00\x00", "", nil), BadRecord},
		"agent above 32 bits":    {handmade(1, "\x01\x80\x80\x80\x80\x10\x00\x00\x00\x00", "", nil), BadRecord},
		"step above 32 bits":     {handmade(1, "\x01\x00\x00\x80\x80\x80\x80\x10\x00\x00", "", nil), BadRecord},
		"tick above 64 bits":     {handmade(1, "\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00", "", nil), BadRecord},
		"tick without end":       {handmade(1, "\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00", "", nil), BadRecord},
		"first has a cause":      {handmade(1, "\x01\x00\x00\x00\x01\x00", "", nil), BadRecord},
		"cause is itself":        {handmade(2, plain+"\x01\x00\x00\x00\x01\x00", "", nil), BadRecord},
		"cause comes later":      {handmade(2, plain+"\x01\x00\x00\x00\x02\x00", "", nil), BadRecord},
		"body beyond the end":    {handmade(1, "\x01\x00\x00\x00\x00\x01", "", nil), BadRecord},
		"huge body":              {handmade(1, "\x01\x00\x00\x00\x00\xff\xff\xff\x07", "", nil), BadRecord},
		"body into the list":     {handmade(1, "\x01\x00\x00\x00\x00\x2c", touched(5), nil), BadRecord},
		"agent not in the list":  {handmade(2, plain+agent, "", nil), BadTouched},
		"other agent in list":    {handmade(2, plain+agent, touched(4), nil), BadTouched},
		"list of a part":         {handmade(1, plain, touched(5)[:43], nil), BadTouched},
		"agent 0 in the list":    {handmade(1, plain, touched(0), nil), BadTouched},
		"run 0 in the list":      {handmade(1, plain, run(0), nil), BadTouched},
		"runs before agents":     {handmade(1, plain, run(5)+touched(5), nil), BadTouched},
		"record of a run":        {handmade(2, plain+"\x01\x85\x80\x80\x80\x08\x00\x00\x00\x00", touched(5)+run(5), nil), BadRecord},
		"list not ascending":     {handmade(1, plain, touched(5, 3), nil), BadTouched},
		"agent twice in list":    {handmade(1, plain, touched(5, 5), nil), BadTouched},
		"length below a block":   {make([]byte, MinBlockBytes-1), BadLength},
		"length above the limit": {[]byte{1, 0, 0, 1, 0, 0, 0, 0}, BadLength},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := Decode(test.raw)
			if test.reason == 0 {
				require.NoError(t, err)
				return
			}
			var problem *DecodeError
			require.True(t, errors.As(err, &problem), "got %v", err)
			assert.Equal(t, test.reason, problem.Reason, "%v", err)
		})
	}
}

// FuzzDecodeBlock: no bytes panic or over-allocate, and whatever is accepted
// has one form only: writing its content again gives the same bytes. Each
// input is also tried with its length and checksum repaired.
func FuzzDecodeBlock(f *testing.F) {
	blocks, _ := chainOfBlocks(12, DefaultSegmentBytes)
	for _, raw := range blocks {
		f.Add(raw)
	}
	f.Add(handmade(1, "\x01\x00\x00\x00\x00\x00", "", nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, candidate := range [][]byte{raw, resealed(raw)} {
			block, err := Decode(candidate)
			if err != nil {
				var problem *DecodeError
				require.ErrorAs(t, err, &problem)
				continue
			}
			var b Builder
			b.Begin(block.Index, block.Term, block.FirstSeq, block.ClockMillis)
			for records := block.Records(); records.Next(); {
				require.Equal(t, records.Record.Seq, b.Open(records.Record.Header))
				b.Buf = append(b.Buf, records.Record.Body...)
				b.Close()
			}
			for i := range block.Touched() {
				agent, previous := block.TouchedAt(i)
				b.Touch(agent, previous, block.HeadAt(i))
			}
			again, digest := b.Seal(block.PrevChain)
			require.Equal(t, candidate, again)
			require.Equal(t, block.Digest(), digest)
		}
	})
}
