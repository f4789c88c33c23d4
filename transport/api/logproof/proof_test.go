package logproof_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
)

// logOf is the log of a kernel whose last event is a Checkpoint.
func logOf(t *testing.T, events int) [][]byte {
	t.Helper()
	h := kerneltest.NewHistory(t, 1, 20, kerneltest.NewSeeded(4))
	h.Run(events)
	for len(h.Blocks) < 90+events { // so that the tree has several peaks, whatever was drawn
		h.Pulse()
	}
	h.Node(event.Checkpoint, event.Compare{Index: 1, Values: []event.Voter{{Node: "n1"}}})
	return h.Blocks
}

// prove makes the proof of a record in the plainest way.
func prove(t *testing.T, blocks [][]byte, seq uint64) *logproof.Proof {
	t.Helper()
	var nodes logging.Nodes
	nodes = func(height int, number uint64) ([logging.HashBytes]byte, error) {
		if height == 0 {
			return logging.Digest(blocks[number]), nil
		}
		left, _ := nodes(height-1, 2*number)
		right, _ := nodes(height-1, 2*number+1)
		return logging.NodeOf(left, right), nil
	}
	head := len(blocks) - 1
	for leaf, raw := range blocks[:head] {
		b, err := logging.Decode(raw)
		require.NoError(t, err)
		if seq < b.FirstSeq || seq > b.LastSeq() {
			continue
		}
		way, err := logging.Prove(uint64(leaf), uint64(head), nodes)
		require.NoError(t, err)
		p, err := logproof.New("test", "default", seq, raw, blocks[head], &way)
		require.NoError(t, err)
		return p
	}
	t.Fatalf("no block has record %d", seq)
	return nil
}

// LO-7: the proof of every record holds, through JSON too, and leads to the
// log's chain value.
func TestEveryRecordIsProven(t *testing.T) {
	blocks := logOf(t, 60)
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	for _, raw := range blocks {
		require.NoError(t, verifier.Feed(raw))
	}
	last, err := logging.Decode(blocks[len(blocks)-1])
	require.NoError(t, err)
	for seq := uint64(1); seq < last.FirstSeq; seq += 3 {
		file, err := json.Marshal(prove(t, blocks, seq))
		require.NoError(t, err)
		var p logproof.Proof
		require.NoError(t, json.Unmarshal(file, &p))
		block, err := logproof.Check(&p)
		require.NoError(t, err)
		assert.LessOrEqual(t, block.FirstSeq, seq)
		assert.GreaterOrEqual(t, block.LastSeq(), seq)
		chain := verifier.Point().Chain
		assert.Equal(t, logproof.Text(chain), p.Chain)
		assert.Equal(t, verifier.Point().LastIndex, p.Index)
	}
}

// Every part of a proof counts: with any of them changed it says which.
func TestWrongProofs(t *testing.T) {
	blocks := logOf(t, 60)
	other := prove(t, logOf(t, 61), 40)
	for name, test := range map[string]struct {
		change func(*logproof.Proof)
		field  string
	}{
		"block flipped":  {func(p *logproof.Proof) { p.Block[50] ^= 1 }, "block"},
		"block cut":      {func(p *logproof.Proof) { p.Block = p.Block[:20] }, "block"},
		"another block":  {func(p *logproof.Proof) { p.Block = blocks[0]; p.BusSeq = 1 }, "path"},
		"another record": {func(p *logproof.Proof) { p.BusSeq += 1000 }, "bus_seq"},
		"another place":  {func(p *logproof.Proof) { p.Number ^= 1 }, "path"},
		"far place":      {func(p *logproof.Proof) { p.Number = p.Size }, "path"},
		"another size":   {func(p *logproof.Proof) { p.Size++ }, "path"},
		"before":         {func(p *logproof.Proof) { p.Before = other.Chain }, "path"},
		"before cut":     {func(p *logproof.Proof) { p.Before = "00" }, "before"},
		"path":           {func(p *logproof.Proof) { p.Path[1] = other.Chain }, "path"},
		"path short":     {func(p *logproof.Proof) { p.Path = p.Path[1:] }, "path"},
		"path not hex":   {func(p *logproof.Proof) { p.Path[0] = "zz" + p.Path[0][2:] }, "path"},
		"after":          {func(p *logproof.Proof) { p.After[0] = other.Chain }, "path"},
		"after not hex":  {func(p *logproof.Proof) { p.After[0] = "" }, "after"},
		"head flipped":   {func(p *logproof.Proof) { p.Head[60] ^= 1 }, "head"},
		"head no head":   {func(p *logproof.Proof) { p.Head = blocks[0] }, "head"},
		"another head":   {func(p *logproof.Proof) { p.Head = other.Head }, "size"},
		"another index":  {func(p *logproof.Proof) { p.Index++ }, "index"},
		"another chain":  {func(p *logproof.Proof) { p.Chain = other.Chain }, "chain"},
	} {
		t.Run(name, func(t *testing.T) {
			p := prove(t, blocks, 40)
			p.Block, p.Head = bytes.Clone(p.Block), bytes.Clone(p.Head)
			test.change(p)
			_, err := logproof.Check(p)
			var wrong *logproof.Wrong
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, test.field, wrong.Field, "%v", err)
		})
	}
}

// FuzzCheck: arbitrary proofs are refused, never taken, and never a panic.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"block":"AAAA","path":["00"]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		var p logproof.Proof
		if json.Unmarshal(file, &p) == nil {
			if _, err := logproof.Check(&p); err == nil {
				t.Fatal("a proof of nothing holds")
			}
		}
	})
}
