package segment

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// peersOf gives three peers of one log: with everything, compacted as the manifest
// says, and compacted further than it says by a node that is ahead.
func peersOf(t testing.TB, blocks []written) (full, compacted, ahead *Store) {
	t.Helper()
	end := blocks[len(blocks)-1].after
	full, compacted, ahead = fullLog(t, blocks), archivedLog(t, blocks), fullLog(t, blocks)
	takeAway(t, compacted)
	later := end
	later.ApplyArchived(800, &logging.Archived{Segments: uint64(len(end.Sealed)) - 1})
	archiveAll(t, ahead, &later)
	takeAway(t, ahead)
	return full, compacted, ahead
}

// INV-07, LO-2: a new node fetches compacted segments from whoever has them, in
// chunks of any size and from peers by turns, and its files are those of the others.
func TestFetchArchived(t *testing.T) {
	blocks := archivedHistory(311, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	full, compacted, _ := peersOf(t, blocks)
	want := filesIn(t, string(compacted.dir), compactedSuffix)
	for what, peers := range map[string][]*Store{
		"full":      {full},
		"compacted": {compacted},
		"by turns":  {full, compacted},
	} {
		for _, size := range []int{logging.StubBytes, 100, 777, 1 << 20} {
			t.Run(what, func(t *testing.T) {
				s := resetAt(t, scratch(t), blocks, 119)
				turn := 0
				for p, missing := s.Missing(); missing; p, missing = s.Missing() {
					whole, err := fetchMore(peers[turn%len(peers)], s, p, size, 1500/size+1+turn%5)
					require.NoError(t, err)
					turn++
					require.Less(t, turn, 20_000)
					if whole {
						require.NoError(t, s.Complete(p))
					}
				}
				appendAll(t, s, blocks[119:])
				require.Empty(t, filesIn(t, string(s.dir), partSuffix))
				archiveAll(t, s, &end)
				requireSameFiles(t, want, filesIn(t, string(s.dir), compactedSuffix), "fetched")
				if what == "compacted" {
					require.Empty(t, filesIn(t, string(s.archive), segmentSuffix))
				} else {
					takeAway(t, s)
				}
				requireCompacted(t, s, blocks)
				settle(t, s)
				requireSameFiles(t, filesIn(t, string(compacted.dir), segmentSuffix), filesIn(t, string(s.dir), segmentSuffix), "not archived")
			})
		}
	}
}

// A peer that has archived more than this node knows of gives stubs that are not
// taken where nothing is archived yet, and taken for good where something is.
func TestFetchFromANodeAhead(t *testing.T) {
	blocks := archivedHistory(312, small, 120, map[int]uint64{70: 650})
	full, _, ahead := peersOf(t, blocks)
	s := resetAt(t, scratch(t), blocks, 119)
	early := 0
	for p, missing := s.Missing(); missing; p, missing = s.Missing() {
		entry, sealed := sealedAt(blocks[119].after.Sealed, p.Start)
		_, err := fetchMore(ahead, s, p, 300, 1<<20)
		if err != nil {
			require.Equal(t, ErrArchivedThere, err)
			require.True(t, !sealed || entry.ArchivedAt == 0)
			require.NoError(t, fetchOne(full, s, p, 300))
			early++
			continue
		}
		require.NoError(t, s.Complete(p))
	}
	require.Positive(t, early)
	appendAll(t, s, blocks[119:])
	end := blocks[119].after
	end.ApplyArchived(800, &logging.Archived{Segments: uint64(len(end.Sealed)) - 1})
	archiveAll(t, s, &end) // now it has come as far
	requireSameFiles(t, filesIn(t, string(ahead.dir), compactedSuffix), filesIn(t, string(s.dir), compactedSuffix), "as far")
}

// A peer that archives between two chunks cannot go on in the middle of a block; the
// next stream begins where the block does.
func TestPeerArchivesMeanwhile(t *testing.T) {
	blocks := archivedHistory(313, 1<<16, 1500, map[int]uint64{1400: 650})
	end := blocks[1499].after
	gone := dropped(t, blocks, &end)
	require.NotZero(t, end.Sealed[0].ArchivedAt)
	peer := fullLog(t, blocks)
	s := resetAt(t, scratch(t), blocks, 1499)
	p, _ := s.Missing()
	for p.Start > 0 {
		require.NoError(t, fetchOne(peer, s, p, 1<<20))
		p, _ = s.Missing()
	}
	victim := 100
	for !gone[victim] {
		victim++
	}
	middle := blocks[victim].before.Position + 60
	buffer := make([]byte, middle)
	n, next, err := peer.Serve(0, buffer)
	require.NoError(t, err)
	require.Equal(t, middle, next)
	require.NoError(t, s.Accept(p, 0, buffer[:n]))
	archiveAll(t, peer, &end)
	takeAway(t, peer)
	_, _, err = peer.Serve(next, buffer)
	require.ErrorAs(t, err, new(*CompactedError))
	have, err := s.Have(p)
	require.NoError(t, err)
	require.Equal(t, blocks[victim].before.Position, have)
	_, _, err = peer.Serve(have, buffer[:20])
	require.Error(t, err, "no room for a stub")
	require.NoError(t, fetchOne(peer, s, p, 500))
	_, missing := s.Missing()
	require.False(t, missing)
}

// Readers, the archiver, an operator who moves the archive, and a peer that fetches,
// all at once: no answer is wrong.
func TestReadingWhileArchiving(t *testing.T) {
	blocks := archivedHistory(317, 20_000, 1500, map[int]uint64{400: 250, 900: 450, 1300: 750})
	s := fullLog(t, blocks)
	end := blocks[1499].after
	gone := dropped(t, blocks, &end)
	fetcher := resetAt(t, scratch(t), blocks, 1499)
	var group sync.WaitGroup
	var stop atomic.Bool
	for i := range 2 {
		group.Go(func() {
			for at := i; !stop.Load(); at = (at + 37) % len(blocks) {
				b, err := s.BlockAt(blocks[at].before.Position)
				if err == nil {
					assert.Equal(t, blocks[at].raw, b.Raw)
				} else if !assert.ErrorAs(t, err, new(*CompactedError)) || !assert.True(t, gone[at]) {
					return
				}
				from := at
				_, err = s.ReadFrom(blocks[at].before.NextSeq, func(_ uint64, b *logging.Block) bool {
					assert.Equal(t, blocks[from].raw, b.Raw)
					from++
					return from < at+20
				})
				if err != nil && (!assert.ErrorAs(t, err, new(*CompactedError)) || !assert.True(t, gone[from])) {
					return
				}
			}
		})
	}
	group.Go(func() {
		for !stop.Load() {
			if p, missing := fetcher.Missing(); missing {
				if err := fetchOne(s, fetcher, p, 3000); err != nil {
					assert.ErrorAs(t, err, new(*CompactedError)) // archived in the middle of a block
				}
			}
		}
	})
	for _, at := range []int{399, 401, 901, 1301, 1499} {
		archiveAll(t, s, &blocks[at].after)
		if at > 900 {
			putBack := takeAway(t, s)
			if at == 901 {
				putBack()
			}
		}
	}
	stop.Store(true)
	group.Wait()
	require.Zero(t, s.Status().Damaged)
	fetchAll(t, s, fetcher, 3000)
	appendAll(t, fetcher, blocks[1499:])
	archiveAll(t, fetcher, &end)
	requireSameFiles(t, filesIn(t, string(s.dir), compactedSuffix), filesIn(t, string(fetcher.dir), compactedSuffix), "fetched")
	takeAway(t, fetcher)
	requireCompacted(t, fetcher, blocks)
}

// Whatever order of archiving, moving the archive, fetching, damage, crashes and
// restarts from older snapshots there was: in the end the compacted files are those
// of every other replica, and everything that is kept reads.
func TestAnyCourseOfArchiving(t *testing.T) {
	blocks := archivedHistory(318, small, 90, map[int]uint64{30: 250, 50: 450, 75: 750})
	end := blocks[89].after
	full, compacted, _ := peersOf(t, blocks)
	want := filesIn(t, string(compacted.dir), compactedSuffix)
	rapid.Check(t, func(rt *rapid.T) {
		f := &fetcher{blocks: blocks, peer: full}
		f.open(rt, scratch(t))
		defer func() { f.s.Close() }()
		steps := []string{"append", "append", "append", "snapshot", "archive", "archive", "away", "fetch", "reset", "close", "crash", "spoil", "read"}
		for range rapid.IntRange(1, 50).Draw(rt, "steps") {
			switch rapid.SampledFrom(steps).Draw(rt, "step") {
			case "append":
				f.append(rt, min(rapid.IntRange(1, 20).Draw(rt, "blocks"), len(blocks)-1-f.at))
			case "snapshot":
				f.snapshot = f.at
				require.NoError(rt, f.s.Sync(context.Background(), blocks[f.snapshot].before.Position))
			case "archive": // as of the snapshot; perhaps it does not end
				f.s.Archive(blocks[f.snapshot].before.Sealed, dropOver)
				if rapid.Bool().Draw(rt, "wait") {
					f.idle(rt)
				}
			case "away":
				f.idle(rt)
				takeAway(t, f.s)
			case "fetch":
				f.peer = rapid.SampledFrom([]*Store{full, compacted}).Draw(rt, "peer")
				f.fetchArchived(rt)
			case "reset":
				f.at = rapid.IntRange(f.at, len(blocks)-1).Draw(rt, "to")
				require.NoError(rt, f.s.Reset(blocks[f.at].before))
				f.snapshot = f.at
			case "close":
				require.NoError(rt, f.s.Close())
				f.open(rt, f.dir)
			case "crash":
				crashed := copyTree(t, f.dir)
				require.NoError(rt, f.s.Close())
				f.open(rt, crashed)
			case "spoil":
				require.NoError(rt, f.s.Close())
				f.spoil(rt)
				f.open(rt, f.dir)
			case "read":
				f.read(rt)
			}
		}
		f.append(rt, len(blocks))
		for round := 0; ; round++ {
			fetchAll(t, full, f.s, 800)
			_, err := f.s.Walk(1, func(*Item) bool { return true })
			if err == nil {
				break
			}
			require.ErrorAs(rt, err, new(*CorruptError))
			require.Less(rt, round, 60)
			if _, missing := f.s.Missing(); !missing { // in the tail: a restart finds it
				require.NoError(rt, f.s.Close())
				f.open(rt, f.dir)
				f.append(rt, len(blocks))
			}
		}
		syncAll(t, f.s)
		f.s.Archive(end.Sealed, dropOver)
		f.idle(rt)
		require.Zero(rt, f.s.Status().ToArchive)
		f.withoutArchive(t, rt, full, &end)
		requireSameFiles(t, want, filesIn(t, f.dir, compactedSuffix), "whatever happened")
		requireCompacted(t, f.s, blocks)
	})
}

// withoutArchive takes the archive away and mends what shows only then: while it
// is there, nobody reads a compacted file.
func (f *fetcher) withoutArchive(t *testing.T, rt *rapid.T, peer *Store, end *logging.Tables) {
	for round := 0; ; round++ {
		takeAway(t, f.s)
		_, err := f.s.Walk(1, func(*Item) bool { return true })
		if err == nil {
			return
		}
		require.ErrorAs(rt, err, new(*CorruptError))
		require.Less(rt, round, 60)
		fetchAll(t, peer, f.s, 800)
		f.s.Archive(end.Sealed, dropOver)
		f.idle(rt)
	}
}

// idle waits until the archiver has done what it can.
func (f *fetcher) idle(t *rapid.T) {
	for until := time.Now().Add(deadline); f.s.Status().Archiving; time.Sleep(50 * time.Microsecond) {
		require.True(t, time.Now().Before(until), "the archiver has no end")
	}
}

// fetchArchived fetches some of what is missing, from a peer that may hold less.
func (f *fetcher) fetchArchived(t *rapid.T) {
	p, missing := f.s.Missing()
	if !missing {
		return
	}
	size, chunks := rapid.IntRange(logging.StubBytes, 900).Draw(t, "size"), rapid.IntRange(0, 12).Draw(t, "chunks")
	whole, err := fetchMore(f.peer, f.s, p, size, chunks)
	if err != nil {
		require.Equal(t, ErrArchivedThere, err)
	}
	if whole {
		require.NoError(t, f.s.Complete(p))
	}
}

// copyTree copies a log with its archive.
func copyTree(t testing.TB, from string) string {
	t.Helper()
	to := copyDir(t, from)
	if _, err := os.Stat(filepath.Join(from, "archive")); err == nil {
		require.NoError(t, os.Rename(copyDir(t, filepath.Join(from, "archive")), filepath.Join(to, "archive")))
	}
	return to
}
