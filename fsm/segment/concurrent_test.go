package segment

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// followLog reads the log as it grows until it has seen the end. With pause it
// takes one block at a time.
func followLog(ctx context.Context, t *testing.T, s *Store, published *atomic.Uint64, end *atomic.Pointer[logging.Point], pause bool) {
	verifier := logging.NewVerifier(logging.Genesis("default").Point)
	for next := uint64(1); ; {
		var failed, err error
		next, err = s.ReadFrom(next, func(_ uint64, b *logging.Block) bool {
			failed = verifier.Feed(b.Raw)
			assert.LessOrEqual(t, b.LastSeq(), published.Load())
			return failed == nil && !pause
		})
		if !assert.NoError(t, errors.Join(failed, err)) {
			return
		}
		if final := end.Load(); final != nil && *final == verifier.Point() {
			return
		}
		grown, more := s.Grown()
		if grown > next {
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			t.Error("a follower waited in vain")
			return
		}
	}
}

// CL-5: followers see every block once, in order, without gaps, while the log
// grows, rolls over, flushes and indexes, and never beyond what is published.
func TestFollowersWhileWriting(t *testing.T) {
	const count = 4000
	options := testOptions()
	options.FlushEvery = 2 * time.Millisecond
	s, err := Open(t.TempDir(), options)
	require.NoError(t, err)
	require.NoError(t, s.Resume(logging.Genesis("default")))

	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	source := newSource(81, 40_000)
	var published atomic.Uint64 // what the writer is about to publish
	var lastOf [agents + 1]atomic.Uint64
	var end atomic.Pointer[logging.Point]
	var group sync.WaitGroup
	follow := func(pause bool) {
		defer group.Done()
		followLog(ctx, t, s, &published, &end, pause)
	}
	walk := func(agent uint32) {
		defer group.Done()
		for end.Load() == nil && ctx.Err() == nil {
			last := lastOf[agent].Load()
			var back, forth int
			assert.NoError(t, s.AgentBlocks(agent, last, func(uint64, *logging.Block) bool { back++; return true }))
			assert.NoError(t, s.AgentHistory(agent, last, 1, func(uint64, *logging.Block) bool { forth++; return true }))
			assert.Equal(t, back, forth)
		}
	}
	group.Add(5)
	go follow(false)
	go follow(false)
	go follow(true)
	go walk(1)
	go walk(2)
	for i := range count {
		require.NoError(t, s.Append(source.step()))
		if i%7 == 0 {
			published.Store(source.tables.NextSeq - 1)
			s.Publish()
			for agent := range source.last {
				lastOf[agent].Store(source.last[agent])
			}
		}
		if i%500 == 0 {
			require.NoError(t, s.Sync(ctx, source.tables.Position))
		}
	}
	published.Store(source.tables.NextSeq - 1)
	point := source.tables.Point
	end.Store(&point)
	s.Publish()
	group.Wait()
	require.NoError(t, s.Close())
}

// Readers during Reset get what is right, or that history is behind; never
// corruption.
func TestReadersDuringReset(t *testing.T) {
	blocks := history(82, small, 200)
	s := openAt(t, scratch(t), logging.Genesis("default"))
	var stop atomic.Bool
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			for !stop.Load() {
				from, _ := s.Grown()
				from = max(from, 60) - 59
				_, err := s.ReadFrom(from, func(_ uint64, b *logging.Block) bool { return true })
				var behind *HistoryBehindError
				var ahead *AheadError
				if err != nil && !errors.As(err, &behind) && !errors.As(err, &ahead) {
					assert.NoError(t, err)
					return
				}
			}
		}()
	}
	for at := 0; at < 190; at += 10 {
		appendAll(t, s, blocks[at:at+5])
		require.NoError(t, s.Reset(blocks[at+10].before))
	}
	stop.Store(true)
	group.Wait()
}

// What a reader looks at in memory is not overwritten, however much is written
// meanwhile.
func TestPinnedChunkIsNotReused(t *testing.T) {
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	source := newSource(85, 1<<30)
	for source.tables.Position < 2*chunkBytes {
		require.NoError(t, s.Append(source.step()))
	}
	s.files.Lock() // keeps it in memory until a reader has got hold of it
	require.NoError(t, s.Append(source.step()))
	s.Publish()
	seen := 0
	_, err := s.ReadFrom(source.tables.NextSeq-1, func(_ uint64, b *logging.Block) bool {
		seen++
		before := append([]byte(nil), b.Raw...)
		s.files.Unlock()
		for until := source.tables.Position + 6*chunkBytes; source.tables.Position < until; {
			require.NoError(t, s.Append(source.step()))
			syncAll(t, s)
		}
		require.Equal(t, before, b.Raw)
		return false
	})
	require.NoError(t, err)
	require.Equal(t, 1, seen)
}

// Append waits while more than BufferBytes wait for the disk.
func TestBufferIsBounded(t *testing.T) {
	options := testOptions()
	options.BufferBytes = 2 * chunkBytes
	s, err := Open(t.TempDir(), options)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Resume(logging.Genesis("default")))
	source := newSource(86, 1<<30)
	var appended atomic.Uint64
	done := make(chan error, 1)
	s.files.Lock() // the disk stands still
	go func() {
		for source.tables.Position < 8*chunkBytes {
			if err := s.Append(source.step()); err != nil {
				done <- err
				return
			}
			appended.Store(source.tables.Position)
		}
		done <- nil
	}()
	eventually(t, "the buffer to fill", func() bool { return appended.Load() >= 2*chunkBytes })
	for range 100 { // it would have gone on by now
		time.Sleep(time.Millisecond)
		require.Less(t, appended.Load(), uint64(2*chunkBytes+10_000))
	}
	s.files.Unlock()
	require.NoError(t, <-done)
	assert.GreaterOrEqual(t, appended.Load(), uint64(8*chunkBytes))
}

// What waits in Sync is released by its context.
func TestSyncContext(t *testing.T) {
	blocks := history(83, small, 2)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	s.files.Lock() // the flusher cannot go on
	appendAll(t, s, blocks)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- s.Sync(ctx, blocks[1].after.Position) }()
	eventually(t, "Sync to ask for it", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.wanted == blocks[1].after.Position
	})
	cancel()
	assert.Equal(t, context.Canceled, <-result)
	s.files.Unlock()
	syncAll(t, s)
}

// Any order of appending, publishing, syncing, crashing, restarting from any
// older snapshot and resetting gives the same files and answers: where batches
// are cut reaches no byte.
func TestAnyCourseGivesTheSameBytes(t *testing.T) {
	blocks := history(84, small, 60)
	want := filesIn(t, logOf(t, blocks), segmentSuffix)
	rapid.Check(t, func(rt *rapid.T) {
		dir := scratch(t)
		snapshot, at, visible := 0, 0, 0 // the last durable snapshot; the next block; what is published
		s := openAt(t, dir, blocks[0].before)
		restart := func(from int) {
			s = openAt(t, dir, blocks[from].before)
			at, visible = from, from
		}
		for at < len(blocks) {
			switch rapid.SampledFrom([]string{"append", "append", "publish", "snapshot", "close", "crash", "read", "reset"}).Draw(rt, "step") {
			case "append":
				for n := rapid.IntRange(1, 9).Draw(rt, "blocks"); n > 0 && at < len(blocks); n-- {
					require.NoError(rt, s.Append(blocks[at].raw, &blocks[at].after))
					at++
				}
			case "publish":
				s.Publish()
				visible = at
			case "snapshot":
				require.NoError(rt, s.Sync(context.Background(), blocks[at].before.Position))
				snapshot = at
			case "close":
				require.NoError(rt, s.Close())
				restart(rapid.IntRange(0, snapshot).Draw(rt, "from"))
			case "crash":
				crashed := copyDir(t, dir)
				require.NoError(rt, s.Close())
				dir = crashed
				restart(snapshot)
			case "read":
				requireLog(t, s, 1, blocks[:visible])
			case "reset":
				require.NoError(rt, s.Reset(blocks[at].before))
				snapshot, visible = at, at
			}
		}
		s.Publish()
		requireLog(t, s, 1, blocks)
		require.NoError(rt, s.Close())
		requireSameFiles(t, want, filesIn(t, dir, segmentSuffix), "whatever happened")
	})
}
