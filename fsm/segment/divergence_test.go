package segment

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// variant derives one block that continues before, with one thing different.
func variant(before logging.Tables, change string) written {
	var b logging.Builder
	index, term, clock := before.LastIndex+5, before.LastTerm, before.LastClockMillis+5
	first := logging.Header{Kind: 1}
	second := logging.Header{Kind: 2, Agent: 3, Tick: 4, Step: 5}
	body, pointer, chain, records := "second", uint64(0), before.Chain, 2
	switch change {
	case "index":
		index++
	case "term":
		term++
	case "kernel clock":
		clock++
	case "header of a record":
		second.Step++
	case "body of a record":
		body = "Second"
	case "number of records":
		records = 3
	case "pointers of agents":
		pointer = 1
	case "chain before the block":
		chain[5] ^= 1
	}
	b.Begin(index, term, before.NextSeq, clock)
	b.Open(first)
	b.Close()
	for range records - 1 {
		b.Open(second)
		b.Buf = append(b.Buf, body...)
		b.Close()
	}
	b.Touch(3, pointer, [32]byte{})
	raw, digest := b.Seal(chain)
	tables := before
	tables.Advance(raw, digest, small)
	return written{raw: append([]byte(nil), raw...), before: before, after: tables}
}

// LO-3: a valid block in the files that is not the one derived again ends the
// node, names the first difference, and leaves the files for whoever wants to
// look.
func TestDivergence(t *testing.T) {
	blocks := history(21, small, 10)
	common := blocks[9].after
	derived := variant(common, "")
	second := common.NextSeq + 1
	tests := map[string]uint64{
		"index": 0, "term": 0, "kernel clock": 0, "chain before the block": 0, "pointers of agents": 0,
		"header of a record": second, "body of a record": second, "number of records": second + 1,
	}
	for what, seq := range tests {
		t.Run(what, func(t *testing.T) {
			stored := variant(common, what)
			dir := logOf(t, append(blocks[:10:10], stored))
			before := filesIn(t, dir, segmentSuffix)
			s := openAt(t, dir, blocks[4].before)
			appendAll(t, s, blocks[4:])
			err := s.Append(derived.raw, &derived.after)
			want := &DivergenceError{Position: common.Position, Index: common.LastIndex + 5, Seq: seq, What: what}
			require.Equal(t, want, err)
			<-s.Failed()
			assert.Equal(t, want, s.Err())
			assert.Equal(t, want, s.Append(derived.raw, &derived.after))
			assert.Equal(t, want, s.Reset(common))
			requireLog(t, s, 1, blocks)
			assert.Equal(t, want, s.Close())
			requireSameFiles(t, before, filesIn(t, dir, segmentSuffix), "kept as evidence")
		})
	}
}

// Another log than the one the restored state stands on is a divergence too, in
// the tail's header, in a block, or at the end.
func TestResumeOnAnotherLog(t *testing.T) {
	blocks, others := history(22, small, 30), history(23, small, 30)
	dir := logOf(t, others)
	before := filesIn(t, dir, "")
	for what, at := range map[string]logging.Tables{
		"first segment":    blocks[2].before,
		"changed sequence": func() logging.Tables { x := others[2].before; x.NextSeq++; return x }(),
		"changed chain":    func() logging.Tables { x := others[2].before; x.Chain[0] ^= 1; return x }(),
		"inside a block":   func() logging.Tables { x := others[2].before; x.Position -= 3; return x }(),
		"changed header": func() logging.Tables {
			x := others[29].after
			x.Tail.ChainIn[0] ^= 1
			return x
		}(),
		"changed header of an empty tail": func() logging.Tables {
			i := slices.IndexFunc(others, func(w written) bool { return w.after.Tail.Start == w.after.Position })
			x := others[i].after
			x.Tail.ChainIn[0] ^= 1
			x.Chain = x.Tail.ChainIn
			return x
		}(),
	} {
		t.Run(what, func(t *testing.T) {
			s, err := Open(dir, testOptions())
			require.NoError(t, err)
			defer s.Close()
			var divergence *DivergenceError
			require.ErrorAs(t, s.Resume(at), &divergence)
			requireSameFiles(t, before, filesIn(t, dir, ""), "untouched")
		})
	}
}

// A segment that ends elsewhere than the tables say is found at the boundary: as
// a block too many in the old file, or as another header in the next.
func TestDivergentBoundary(t *testing.T) {
	early, late := history(24, 600, 30), history(24, 1200, 30)
	t.Run("stored ends later", func(t *testing.T) {
		s := openAt(t, logOf(t, late), logging.Genesis("default"))
		var err error
		for i := 0; err == nil && i < len(early); i++ {
			err = s.Append(early[i].raw, &early[i].after)
		}
		var divergence *DivergenceError
		require.ErrorAs(t, err, &divergence)
		assert.Equal(t, "segment boundary", divergence.What)
		assert.Equal(t, early[29].after.Sealed[0].End(), divergence.Position)
	})
	t.Run("stored has another next segment", func(t *testing.T) {
		dir := logOf(t, early)
		next := early[29].after.Sealed[1]
		h := head{owner: testOwner, start: next.Start, firstSeq: next.FirstSeq + 1, chainIn: next.ChainIn}
		path := filepath.Join(dir, name(next.Start, segmentSuffix))
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, h.append(nil), 0o640))
		s := openAt(t, dir, logging.Genesis("default"))
		for i := 0; err == nil && i < len(early); i++ {
			err = s.Append(early[i].raw, &early[i].after)
		}
		var divergence *DivergenceError
		require.ErrorAs(t, err, &divergence)
		assert.Equal(t, "segment header", divergence.What)
		assert.Equal(t, next.Start, divergence.Position)
		require.NotEmpty(t, content)
	})
	t.Run("stored ends earlier", func(t *testing.T) {
		// The files simply end there: what follows is derived again.
		dir := logOf(t, early)
		s := openAt(t, dir, logging.Genesis("default"))
		appendAll(t, s, late)
		require.NoError(t, s.Close())
		requireSameFiles(t, filesIn(t, logOf(t, late), segmentSuffix), filesIn(t, dir, segmentSuffix), "as derived")
	})
}
