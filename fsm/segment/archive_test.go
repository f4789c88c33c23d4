package segment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// archivedHistory derives n blocks; after the blocks in at, all that was sealed by
// then is archived as of the index given.
func archivedHistory(seed, segmentBytes uint64, n int, at map[int]uint64) []written {
	s := newSource(seed, segmentBytes)
	out := make([]written, n)
	for i := range out {
		before := s.tables
		block, _ := s.step()
		if index, ok := at[i]; ok {
			s.tables.ApplyArchived(index, &logging.Archived{Segments: uint64(len(s.tables.Sealed))})
		}
		out[i] = written{raw: append([]byte(nil), block...), before: before, after: s.tables}
	}
	return out
}

// over stands for the kernel's rows: agent n is over from index n*100 on.
func over(agent uint32, index uint64) bool { return uint64(agent)*100 <= index }

// dropOver drops the blocks that concern no agent who is not over.
func dropOver(position uint64, b *logging.Block, archivedAt uint64) bool {
	if position == 0 {
		return false
	}
	for i := range b.Touched() {
		if agent, _ := b.TouchedAt(i); !over(agent, archivedAt) {
			return false
		}
	}
	return true
}

// dropped tells which blocks a log at some tables may lack.
func dropped(t testing.TB, blocks []written, at *logging.Tables) []bool {
	t.Helper()
	out := make([]bool, len(blocks))
	for i := range blocks {
		b, err := logging.Decode(blocks[i].raw)
		require.NoError(t, err)
		for _, entry := range at.Sealed {
			if p := blocks[i].before.Position; p >= entry.Start && p < entry.End() && entry.ArchivedAt != 0 {
				out[i] = dropOver(p, &b, entry.ArchivedAt)
			}
		}
	}
	return out
}

// archiveAll archives what the tables say and waits for it.
func archiveAll(t testing.TB, s *Store, at *logging.Tables) {
	t.Helper()
	s.Archive(at.Sealed, dropOver)
	eventually(t, "the archiver", func() bool { return !s.Status().Archiving })
	require.Zero(t, s.Status().ToArchive)
}

// takeAway is an operator who moves the archive elsewhere.
func takeAway(t testing.TB, s *Store) (putBack func()) {
	t.Helper()
	from, to := string(s.archive), scratch(t)
	names, err := filepath.Glob(filepath.Join(from, "*"+segmentSuffix))
	require.NoError(t, err)
	for _, path := range names {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(path)), b, 0o640))
		require.NoError(t, os.Remove(path))
	}
	return func() {
		for file, content := range filesIn(t, to, segmentSuffix) {
			require.NoError(t, os.WriteFile(filepath.Join(from, file), content, 0o640))
		}
	}
}

// archivedLog is a store with all blocks, the oldest segments of which are archived.
func archivedLog(t testing.TB, blocks []written) *Store {
	t.Helper()
	s := fullLog(t, blocks)
	archiveAll(t, s, &blocks[len(blocks)-1].after)
	return s
}

// firstWhole is the busSeq from which on no block was dropped, by segments.
func firstWhole(blocks []written, gone []bool, at *logging.Tables) uint64 {
	first := uint64(1)
	for _, entry := range at.Sealed {
		for i := range blocks {
			if p := blocks[i].before.Position; gone[i] && p >= entry.Start && p < entry.End() {
				first = entry.LastSeq + 1
			}
		}
	}
	return first
}

// requireCompacted checks that every kept block is read, in every way, that dropped
// ones are said to be archived, and that the chain and the tree still verify.
func requireCompacted(t testing.TB, s *Store, blocks []written) {
	t.Helper()
	end := blocks[len(blocks)-1].after
	gone := dropped(t, blocks, &end)
	want := &CompactedError{FirstSeq: firstWhole(blocks, gone, &end)}
	seen := 0
	for i := range blocks {
		b, err := s.BlockAt(blocks[i].before.Position)
		if gone[i] {
			require.Equal(t, want, err, "block %d", i)
			continue
		}
		require.NoError(t, err, "block %d", i)
		require.Equal(t, blocks[i].raw, b.Raw)
	}
	for i := range blocks { // from every block on, up to the first that is gone
		at := i
		_, err := s.ReadFrom(blocks[i].before.NextSeq, func(_ uint64, b *logging.Block) bool {
			require.Equal(t, blocks[at].raw, b.Raw)
			at++
			return true
		})
		if at < len(blocks) {
			require.Equal(t, want, err, "from block %d", i)
			require.True(t, gone[at])
		} else {
			require.NoError(t, err)
		}
	}
	verifier, tree := logging.NewVerifier(logging.Genesis("default").Point), logging.Tree{}
	next, err := s.Walk(1, func(i *Item) bool {
		require.Equal(t, gone[seen], i.Archived())
		require.Equal(t, blocks[seen].before.Position, i.Position)
		require.Equal(t, blocks[seen].before.NextSeq, i.FirstSeq)
		require.NoError(t, i.feed(verifier))
		tree = tree.Append(i.Digest())
		seen++
		return true
	})
	require.NoError(t, err)
	require.Equal(t, len(blocks), seen)
	require.Equal(t, end.NextSeq, next)
	require.Equal(t, end.Chain, verifier.Point().Chain)
	require.Equal(t, end.Tree.Root(), tree.Root())
	requireAgentsOf(t, s, blocks, gone, want)
}

// requireAgentsOf checks each agent's history: whole where nothing of it is gone
// from some busSeq on, and refused otherwise.
func requireAgentsOf(t testing.TB, s *Store, blocks []written, gone []bool, refused error) {
	t.Helper()
	for agent := uint32(1); agent <= agents; agent++ {
		all, last := touching(t, blocks, agent)
		for from := 0; from < len(all); from += 1 + len(all)/7 {
			lacks := false
			for _, i := range all[from:] {
				lacks = lacks || gone[i]
			}
			var got [][]byte
			err := s.AgentHistory(agent, last, blocks[all[from]].before.NextSeq, func(_ uint64, b *logging.Block) bool {
				got = append(got, append([]byte(nil), b.Raw...))
				return true
			})
			if lacks {
				require.Equal(t, refused, err, "agent %d from block %d", agent, all[from])
				continue
			}
			require.NoError(t, err, "agent %d from block %d", agent, all[from])
			require.Len(t, got, len(all)-from)
			for n, i := range all[from:] {
				require.Equal(t, blocks[i].raw, got[n])
			}
		}
		for _, i := range all { // as if each block were the agent's last
			err := s.AgentHistory(agent, logging.PointerTo(blocks[i].before.Position), blocks[i].before.NextSeq,
				func(position uint64, _ *logging.Block) bool {
					return assert.Equal(t, blocks[i].before.Position, position)
				})
			if gone[i] {
				require.Equal(t, refused, err)
			} else {
				require.NoError(t, err)
			}
		}
		newest := len(all)
		err := s.AgentBlocks(agent, last, func(_ uint64, b *logging.Block) bool {
			newest--
			require.Equal(t, blocks[all[newest]].raw, b.Raw)
			return true
		})
		if newest > 0 {
			require.Equal(t, refused, err)
			require.True(t, gone[all[newest-1]])
		} else {
			require.NoError(t, err)
		}
	}
}

// INV-07, LO-1: the blocks of agents who are over leave the log for the archive.
// While the archive is there nothing has changed for readers; without it what is
// kept reads on, and the chain verifies from the first block to the last.
func TestArchive(t *testing.T) {
	blocks := archivedHistory(301, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	archived := 0
	for _, entry := range end.Sealed {
		if entry.ArchivedAt != 0 {
			archived++
		}
	}
	require.Greater(t, archived, 5)
	require.Greater(t, len(end.Sealed), archived+2)
	original := fullLog(t, blocks)
	want := filesIn(t, string(original.dir), segmentSuffix)

	s := archivedLog(t, blocks)
	require.Len(t, filesIn(t, string(s.archive), segmentSuffix), archived)
	require.Len(t, filesIn(t, string(s.dir), compactedSuffix), archived)
	for file, content := range filesIn(t, string(s.archive), segmentSuffix) {
		require.Equal(t, want[file], content, "the archive has the segments as they were")
		require.NotContains(t, filesIn(t, string(s.dir), segmentSuffix), file)
	}
	requireLog(t, s, 1, blocks)
	requireAgents(t, s, blocks, 0)
	_, missing := s.Missing()
	require.False(t, missing)

	require.NoError(t, s.Whole(1))
	putBack := takeAway(t, s)
	requireCompacted(t, s, blocks)
	first := firstWhole(blocks, dropped(t, blocks, &end), &end)
	require.Equal(t, &CompactedError{FirstSeq: first}, s.Whole(1))
	require.Equal(t, &CompactedError{FirstSeq: first}, s.Whole(first-1))
	require.NoError(t, s.Whole(first))
	_, missing = s.Missing()
	require.False(t, missing, "history is complete without the archive")
	require.NoError(t, s.Close())
	s = openAt(t, string(s.dir), end)
	requireCompacted(t, s, blocks)
	require.Equal(t, uint64(1), s.Status().FirstSeq)
	putBack()
	requireLog(t, s, 1, blocks)
	requireAgents(t, s, blocks, 0)
	archiveAll(t, s, &end) // nothing to do
	require.Len(t, filesIn(t, string(s.archive), segmentSuffix), archived)
}

// A compacted file is the same on every replica, also where it was compacted once
// before; and smaller.
func TestCompactedFilesAreTheSame(t *testing.T) {
	early := archivedHistory(302, small, 120, map[int]uint64{70: 350})
	late := archivedHistory(302, small, 120, map[int]uint64{70: 350, 90: 750})
	once := archivedLog(t, late)
	want := filesIn(t, string(once.dir), compactedSuffix)
	require.Greater(t, len(want), 5)
	for what, first := range map[string]func(s *Store){
		"twice":               func(s *Store) {},
		"without the archive": func(s *Store) { takeAway(t, s) },
	} {
		s := fullLog(t, late)
		archiveAll(t, s, &early[len(early)-1].after)
		small := filesIn(t, string(s.dir), compactedSuffix)
		first(s)
		archiveAll(t, s, &late[len(late)-1].after)
		requireSameFiles(t, want, filesIn(t, string(s.dir), compactedSuffix), what)
		shrunk := false
		for file, content := range small {
			shrunk = shrunk || len(content) > len(want[file])
		}
		require.True(t, shrunk)
		takeAway(t, s)
		requireCompacted(t, s, late)
	}
}

// LO-7: a proof can be made of every block that is kept, and it is the one that was
// made before.
func TestProveAfterArchiving(t *testing.T) {
	blocks := archivedHistory(303, 8000, 200, map[int]uint64{150: 650})
	end := blocks[199].after
	s := fullLog(t, blocks)
	before := make([]logging.Proof, len(blocks))
	for i := range blocks {
		_, proof, err := s.Prove(blocks[i].before.NextSeq, uint64(len(blocks)))
		require.NoError(t, err)
		before[i] = proof
	}
	archiveAll(t, s, &end)
	takeAway(t, s)
	gone := dropped(t, blocks, &end)
	kept := 0
	for i := range blocks {
		block, proof, err := s.Prove(blocks[i].before.NextSeq, uint64(len(blocks)))
		if gone[i] {
			require.Equal(t, &CompactedError{FirstSeq: firstWhole(blocks, gone, &end)}, err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, blocks[i].raw, block)
		require.Equal(t, before[i], proof)
		kept++
	}
	require.Greater(t, kept, 50)
	require.Less(t, kept, 190)
}

// The archive may lie on another file system.
func TestArchiveElsewhere(t *testing.T) {
	blocks := archivedHistory(304, small, 120, map[int]uint64{70: 650})
	options := testOptions()
	options.ArchiveDir = filepath.Join(t.TempDir(), "far", "away")
	s, err := Open(scratch(t), options)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	require.NoError(t, s.Resume(blocks[0].before))
	appendAll(t, s, blocks)
	syncAll(t, s)
	archiveAll(t, s, &blocks[119].after)
	require.NotEmpty(t, filesIn(t, options.ArchiveDir, segmentSuffix))
	require.NoDirExists(t, filepath.Join(string(s.dir), "archive"))
	requireLog(t, s, 1, blocks)
	require.NoError(t, os.RemoveAll(options.ArchiveDir))
	requireCompacted(t, s, blocks)
}

// The archive is kept within its bound: the oldest files go first, and none whose
// compacted file is not here.
func TestArchiveIsBounded(t *testing.T) {
	blocks := archivedHistory(305, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	options := testOptions()
	options.ArchiveBytes = 7000
	s, err := Open(scratch(t), options)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	require.NoError(t, s.Resume(blocks[0].before))
	appendAll(t, s, blocks)
	syncAll(t, s)
	stranger := filepath.Join(string(s.archive), name(1, segmentSuffix))
	require.NoError(t, os.MkdirAll(string(s.archive), 0o750))
	require.NoError(t, os.WriteFile(stranger, make([]byte, 100), 0o640))
	s.Archive(end.Sealed, dropOver)
	newest := 0
	for newest+1 < len(end.Sealed) && end.Sealed[newest+1].ArchivedAt != 0 {
		newest++
	}
	eventually(t, "the archive to shrink", func() bool {
		return s.Status().ToArchive == 0 && len(filesIn(t, string(s.archive), segmentSuffix)) <= 4
	})
	left := filesIn(t, string(s.archive), segmentSuffix)
	total := 0
	for _, content := range left {
		total += len(content)
	}
	require.LessOrEqual(t, total, 7000)
	require.Greater(t, total, 7000-2*2600, "no more than needed")
	require.FileExists(t, stranger)
	require.Contains(t, left, name(end.Sealed[newest].Start, segmentSuffix))
	_, err = s.ReadFrom(1, func(uint64, *logging.Block) bool { return true })
	require.ErrorAs(t, err, new(*CompactedError))
	requireLog(t, s, end.Sealed[newest].FirstSeq, blocks[firstAt(blocks, end.Sealed[newest].Start):])
}

// The bytes of a compacted segment's header, written out.
func TestCompactedHeader(t *testing.T) {
	c := compactedHead{
		head:     headerOf(testOwner, logging.Head{Start: 5, FirstSeq: 9, ChainIn: [32]byte{1}}),
		chainOut: [32]byte{2}, archivedAt: 3, bytes: 4, size: 5, kept: 6, dropped: 7,
	}
	b := c.append(nil)
	require.Len(t, b, compactedBytes)
	assert.Equal(t, []byte("OMNICMP\n"), b[:8])
	for at, want := range map[int]byte{48: 5, 56: 9, 64: 1, 96: 2, 128: 3, 136: 4, 144: 5, 152: 6, 160: 7} {
		assert.Equal(t, want, b[at], "offset %d", at)
	}
	read, err := parseCompacted(b)
	require.NoError(t, err)
	c.checksum = read.checksum
	require.Equal(t, c, read)
	for bit := range len(b) * 8 {
		b[bit/8] ^= 1 << (bit % 8)
		_, err := parseCompacted(b)
		require.Equal(t, errTorn, err, "bit %d", bit)
		b[bit/8] ^= 1 << (bit % 8)
	}
}
