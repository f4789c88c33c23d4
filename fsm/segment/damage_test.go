package segment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// requireDamaged reads everything: all blocks but those at and after the damage
// in their segment are given, none is wrong, and the damage is named.
func requireDamaged(t *testing.T, s *Store, blocks []written, entry *logging.Segment) *CorruptError {
	t.Helper()
	var damaged *CorruptError
	for i := range blocks {
		b, err := s.BlockAt(blocks[i].before.Position)
		if err != nil {
			require.ErrorAs(t, err, &damaged, "block %d", i)
			require.GreaterOrEqual(t, damaged.Position, entry.Start)
			require.Less(t, damaged.Position, entry.End())
			require.Equal(t, s.dir.path(entry.Start, segmentSuffix), damaged.Path)
			require.Equal(t, offsetIn(entry.Start, damaged.Position), damaged.Offset)
			continue
		}
		require.Equal(t, blocks[i].raw, b.Raw)
	}
	require.NotNil(t, damaged)
	return damaged
}

// A sealed segment found damaged is marked, on disk too; what is sound in it can
// be read; a peer's copy heals it (LO-2).
func TestDamageIsMarkedAndHealed(t *testing.T) {
	blocks := history(221, small, 60)
	peer := fullLog(t, blocks)
	entry := blocks[59].after.Sealed[2]
	for what, damage := range map[string]func(path string) error{
		"first block": func(path string) error { changeByte(t, path, headerBytes+20, 4); return nil },
		"length":      func(path string) error { changeByte(t, path, headerBytes+3, 0x80); return nil },
		"last byte":   func(path string) error { changeByte(t, path, offsetIn(entry.Start, entry.End())-1, 4); return nil },
		"cut to half": func(path string) error { return os.Truncate(path, offsetIn(entry.Start, entry.Start+entry.Bytes/2)) },
		"empty":       func(path string) error { return os.Truncate(path, 0) },
		"missing":     os.Remove,
		"another's":   func(path string) error { return os.WriteFile(path, make([]byte, 9000), 0o640) },
		"sidecar gone": func(path string) error {
			changeByte(t, path, headerBytes+20, 4)
			return os.Remove(path[:len(path)-4] + indexSuffix)
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := fullLog(t, blocks)
			eventually(t, "the sidecar", func() bool { return len(filesIn(t, string(s.dir), indexSuffix)) == len(blocks[59].after.Sealed) })
			_, missing := s.Missing()
			require.False(t, missing)
			require.NoError(t, damage(s.dir.path(entry.Start, segmentSuffix)))
			requireDamaged(t, s, blocks, &entry)
			p := Piece{Start: entry.Start, From: entry.Start, To: entry.End()}
			for range 2 {
				now, missing := s.Missing()
				require.True(t, missing)
				require.Equal(t, p, now)
				require.Equal(t, 1, s.Status().Damaged)
				_, _, err := s.Serve(entry.End(), make([]byte, 10))
				require.NoError(t, err)
				require.NoError(t, s.Close())
				if what != "last byte" && what != "first block" && what != "length" && what != "sidecar gone" {
					break // after a restart it is no more than a file that is not whole
				}
				s = openAt(t, string(s.dir), blocks[59].after)
			}
			s = openAt(t, string(s.dir), blocks[59].after)
			require.Equal(t, []Piece{p}, fetchAll(t, peer, s, 100)[:1])
			fetchAll(t, peer, s, 100)
			requireWhole(t, s, peer, blocks)
			require.Zero(t, s.Status().Damaged)
		})
	}
}

// Two copies that are damaged at different places make one that is whole: what is
// sound of each is taken, block by block, and then both heal from that (LO-2).
func TestTwoDamagedCopiesMakeOneWhole(t *testing.T) {
	blocks := history(223, small, 60)
	first, second := fullLog(t, blocks), fullLog(t, blocks)
	entry := blocks[59].after.Sealed[1]
	var inside []int // the segment's blocks
	for i := range blocks {
		if blocks[i].before.Position >= entry.Start && blocks[i].before.Position < entry.End() {
			inside = append(inside, i)
		}
	}
	require.Greater(t, len(inside), 6)
	spoil := func(s *Store, block int) {
		changeByte(t, s.dir.path(entry.Start, segmentSuffix), offsetIn(entry.Start, blocks[inside[block]].before.Position)+20, 1)
		_, err := s.BlockAt(blocks[inside[block]].before.Position)
		require.ErrorAs(t, err, new(*CorruptError))
	}
	spoil(first, 2)
	spoil(first, 5)
	spoil(second, 3)
	for _, chunk := range []int{100, 1 << 20} {
		third := resetAt(t, scratch(t), blocks, 59)
		for p, missing := third.Missing(); missing; p, missing = third.Missing() {
			if p.Start != entry.Start {
				require.NoError(t, fetchOne(second, third, p, chunk))
				continue
			}
			for _, step := range []struct {
				peer *Store
				upTo int
			}{{first, 2}, {second, 3}, {first, 5}} {
				var damaged *CorruptError
				require.ErrorAs(t, fetchOne(step.peer, third, p, chunk), &damaged)
				have, err := third.Have(p)
				require.NoError(t, err)
				require.Equal(t, blocks[inside[step.upTo]].before.Position, have)
				require.Equal(t, have, damaged.Position)
			}
			require.NoError(t, fetchOne(second, third, p, chunk))
		}
		appendAll(t, third, blocks[59:])
		requireWhole(t, third, fullLog(t, blocks), blocks)
		if chunk == 100 {
			continue
		}
		for _, s := range []*Store{first, second} {
			fetchAll(t, third, s, chunk)
			requireWhole(t, s, third, blocks)
		}
	}
}

// The newest damage is fetched first, and two at once heal as one.
func TestSeveralDamagedSegments(t *testing.T) {
	blocks := history(222, small, 80)
	peer := fullLog(t, blocks)
	at := middleOf(t, blocks) + 30
	s := resetAt(t, scratch(t), blocks, at)
	sealed := blocks[at].before.Sealed
	require.Greater(t, len(sealed), 5)
	for range 4 { // the tail's beginning, and three segments
		p, _ := s.Missing()
		require.NoError(t, fetchOne(peer, s, p, 1000))
	}
	below, _ := s.Missing()
	_, err := fetchMore(peer, s, below, 100, 3)
	require.NoError(t, err)
	for _, i := range []int{len(sealed) - 3, len(sealed) - 1} {
		changeByte(t, s.dir.path(sealed[i].Start, segmentSuffix), headerBytes+20, 1)
		_, err := s.BlockAt(sealed[i].Start)
		require.ErrorAs(t, err, new(*CorruptError))
	}
	require.Equal(t, 2, s.Status().Damaged)
	_, err = s.Have(below)
	require.Equal(t, ErrNotMissing, err)
	pieces := fetchAll(t, peer, s, 100)
	require.Equal(t, sealed[len(sealed)-1].Start, pieces[0].Start)
	require.Equal(t, sealed[len(sealed)-3].Start, pieces[1].Start)
	require.Equal(t, below, pieces[2])
	appendAll(t, s, blocks[at:])
	requireWhole(t, s, peer, blocks)
}

// A position that is none marks nothing, and neither do readers of a segment
// that was healed since.
func TestWrongPositionsMarkNothing(t *testing.T) {
	blocks := history(223, small, 60)
	s := fullLog(t, blocks)
	_, err := s.BlockAt(blocks[5].before.Position + 1)
	require.ErrorAs(t, err, new(*CorruptError))
	require.ErrorAs(t, s.AgentBlocks(agents+1, 1, nil), new(*CorruptError))
	_, missing := s.Missing()
	require.False(t, missing)
	require.Empty(t, filesIn(t, string(s.dir), badSuffix))
}

// A reader that holds the damaged file open sees the healed one.
func TestReaderSeesTheHealedFile(t *testing.T) {
	blocks := history(224, small, 60)
	peer := fullLog(t, blocks)
	entry := blocks[59].after.Sealed[1]
	s := fullLog(t, blocks)
	r := s.reader(aheadSingle)
	defer r.close()
	changeByte(t, s.dir.path(entry.Start, segmentSuffix), headerBytes+20, 1)
	_, err := r.block(entry.Start)
	require.ErrorAs(t, err, new(*CorruptError))
	fetchAll(t, peer, s, 1000)
	b, err := r.block(entry.Start)
	require.NoError(t, err)
	require.Equal(t, blocks[firstAt(blocks, entry.Start)].raw, b.Raw)
	require.Zero(t, s.Status().Damaged)
}

// A gap marker that is damaged is named; the tail's leads to a new one, and a
// sealed segment with such a marker is fetched whole.
func TestDamagedGapMarker(t *testing.T) {
	blocks := history(225, small, 80)
	peer := fullLog(t, blocks)
	at := lateIn(t, blocks)
	s := resetAt(t, scratch(t), blocks, at)
	appendAll(t, s, blocks[at:])
	require.NoError(t, s.Close())
	marker := s.dir.path(blocks[at].before.Tail.Start, gapSuffix)
	for what, damage := range map[string]func(path string) error{
		"flipped":   func(path string) error { changeByte(t, path, 60, 1); return nil },
		"truncated": func(path string) error { return os.Truncate(path, 50) },
		"foreign": func(path string) error {
			g := gap{owner: Owner("other", "default"), start: blocks[at].before.Tail.Start, from: blocks[at].before.Position}
			return os.WriteFile(path, g.append(nil), 0o640)
		},
		"newer": func(path string) error {
			b, err := os.ReadFile(path)
			if err == nil {
				b[offsetVersion] = 9
				err = os.WriteFile(path, sealHeader(b), 0o640)
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir := copyDir(t, string(s.dir))
			path := filepath.Join(dir, filepath.Base(marker))
			require.NoError(t, damage(path))
			tail, err := Open(dir, testOptions())
			switch what {
			case "newer":
				require.Equal(t, &VersionError{Path: path, Version: 9}, err)
				return
			case "foreign":
				require.Equal(t, &ForeignError{Path: path}, err)
				return
			}
			require.NoError(t, err)
			defer tail.Close()
			err = tail.Resume(blocks[at].before)
			var damaged *CorruptError
			require.ErrorAs(t, err, &damaged)
			require.Equal(t, path, damaged.Path)
			require.NoError(t, tail.Reset(blocks[at].before))
			appendAll(t, tail, blocks[at:])
			fetchAll(t, peer, tail, 1000)
			requireWhole(t, tail, peer, blocks)

			sealed := copyDir(t, string(s.dir))
			require.NoError(t, damage(filepath.Join(sealed, filepath.Base(marker))))
			later := openAt(t, sealed, blocks[79].after)
			entry, ok := sealedAt(blocks[79].after.Sealed, blocks[at].before.Tail.Start)
			require.True(t, ok)
			require.Equal(t, Piece{Start: entry.Start, From: entry.Start, To: entry.End()}, fetchAll(t, peer, later, 1000)[0])
			requireWhole(t, later, peer, blocks)
		})
	}
}

// A marker of damage counts whatever it says, and not for what is no sealed
// segment.
func TestMarkersOfDamage(t *testing.T) {
	blocks := history(226, small, 60)
	peer := fullLog(t, blocks)
	dir := copyDir(t, string(peer.dir))
	end := blocks[59].after
	for _, start := range []uint64{end.Sealed[0].Start, end.Sealed[3].Start, end.Tail.Start, 77} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name(start, badSuffix)), nil, 0o640))
	}
	s := openAt(t, dir, end)
	require.Equal(t, 2, s.Status().Damaged)
	require.Len(t, filesIn(t, dir, badSuffix), 2)
	pieces := fetchAll(t, peer, s, 1000)
	require.Equal(t, []Piece{
		{end.Sealed[3].Start, end.Sealed[3].Start, end.Sealed[3].End()}, {0, 0, end.Sealed[0].End()},
	}, pieces)
	requireWhole(t, s, peer, blocks)
}
