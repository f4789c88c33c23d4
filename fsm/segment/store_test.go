package segment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// small segments, so that a few blocks fill several.
const small = 2000

// What was appended is read back from every busSeq, out of memory and out of
// files, in order and without gaps (CL-5).
func TestReadFromEverySeq(t *testing.T) {
	blocks := history(1, small, 80)
	require.Greater(t, len(blocks[79].after.Sealed), 5)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	appendAll(t, s, blocks)
	for _, where := range []string{"memory", "files"} {
		t.Run(where, func(t *testing.T) {
			for i := range blocks {
				for seq := blocks[i].before.NextSeq; seq < blocks[i].after.NextSeq; seq++ {
					requireLog(t, s, seq, blocks[i:])
				}
			}
			requireLog(t, s, blocks[79].after.NextSeq, nil)
			_, err := s.ReadFrom(blocks[79].after.NextSeq+1, func(uint64, *logging.Block) bool { return true })
			assert.Equal(t, &AheadError{NextSeq: blocks[79].after.NextSeq}, err)
			_, err = s.ReadFrom(0, func(uint64, *logging.Block) bool { return true })
			assert.Equal(t, &HistoryBehindError{FirstSeq: 1}, err)
		})
		syncAll(t, s)
	}
	assert.Equal(t, s.Status().Written, s.Status().Position)
}

// Reading stops where the visitor says, and tells where to go on.
func TestReadFromStops(t *testing.T) {
	blocks := history(2, small, 20)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	appendAll(t, s, blocks)
	seen := 0
	next, err := s.ReadFrom(1, func(position uint64, b *logging.Block) bool {
		assert.Equal(t, blocks[seen].before.Position, position)
		seen++
		return seen < 7
	})
	require.NoError(t, err)
	assert.Equal(t, 7, seen)
	assert.Equal(t, blocks[6].after.NextSeq, next)
	requireLog(t, s, next, blocks[7:])
}

// A block is not seen before it is published, and then at once.
func TestPublish(t *testing.T) {
	blocks := history(3, small, 10)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	next, more := s.Grown()
	assert.EqualValues(t, 1, next)
	for i := range 4 {
		require.NoError(t, s.Append(blocks[i].raw, &blocks[i].after))
	}
	syncAll(t, s) // being on disk does not publish
	requireLog(t, s, 1, nil)
	_, err := s.BlockAt(0)
	assert.Equal(t, &AheadError{NextSeq: 1}, err)
	select {
	case <-more:
		t.Fatal("grown before it was published")
	default:
	}
	s.Publish()
	<-more
	requireLog(t, s, 1, blocks[:4])
	next, more = s.Grown()
	assert.Equal(t, blocks[3].after.NextSeq, next)
	s.Publish() // nothing new: nobody is woken
	select {
	case <-more:
		t.Fatal("grown without growth")
	default:
	}
	require.NoError(t, s.Close())
	<-more // closing wakes those who wait
	_, more = s.Grown()
	<-more
}

// BlockAt gives every block by its position, and nothing at other positions.
func TestBlockAt(t *testing.T) {
	blocks := history(4, small, 40)
	s := openAt(t, t.TempDir(), logging.Genesis("default"))
	appendAll(t, s, blocks)
	for range 2 {
		for i := range blocks {
			b, err := s.BlockAt(blocks[i].before.Position)
			require.NoError(t, err)
			require.Equal(t, blocks[i].raw, b.Raw)
		}
		var corrupt *CorruptError
		_, err := s.BlockAt(blocks[20].before.Position + 1)
		require.ErrorAs(t, err, &corrupt)
		assert.Equal(t, blocks[20].before.Position+1, corrupt.Position)
		syncAll(t, s)
	}
}

// A block larger than a chunk, than the buffer and than the read-ahead.
func TestLargeBlocks(t *testing.T) {
	var b logging.Builder
	tables := logging.Genesis("default")
	dir := t.TempDir()
	options := testOptions()
	options.BufferBytes = 1 // the least: two chunks
	s, err := Open(dir, options)
	require.NoError(t, err)
	defer s.Close()
	require.NoError(t, s.Resume(tables))
	var want []written
	for i, size := range []int{10, chunkBytes - 200, chunkBytes, 3 * chunkBytes, 100, logging.MaxBlockBytes - 200, 50} {
		before := tables
		b.Begin(uint64(i+1), 1, tables.NextSeq, 0)
		b.Open(logging.Header{Kind: 1})
		b.Buf = append(b.Buf, make([]byte, size)...)
		b.Close()
		raw, digest := b.Seal(tables.Chain)
		tables.Advance(raw, digest, 1<<20)
		want = append(want, written{raw: append([]byte(nil), raw...), before: before, after: tables})
		require.NoError(t, s.Append(raw, &tables))
		s.Publish()
		requireLog(t, s, 1, want)
	}
	syncAll(t, s)
	for i := range want {
		requireLog(t, s, want[i].before.NextSeq, want[i:])
		got, err := s.BlockAt(want[i].before.Position)
		require.NoError(t, err)
		require.Equal(t, want[i].raw, got.Raw)
	}
	require.NoError(t, s.Close())
	again := openAt(t, dir, logging.Genesis("default"))
	appendAll(t, again, want)
	assert.Equal(t, tables.Position, again.Status().KeptBytes)
}

// The store has an order of life, and says so.
func TestOrderOfCalls(t *testing.T) {
	blocks := history(5, small, 3)
	s, err := Open(t.TempDir(), testOptions())
	require.NoError(t, err)
	assert.Equal(t, ErrNotReady, s.Append(blocks[0].raw, &blocks[0].after))
	assert.Equal(t, ErrNotReady, s.Sync(context.Background(), 0))
	_, err = s.ReadFrom(1, func(uint64, *logging.Block) bool { return true })
	assert.Equal(t, ErrNotReady, err)
	_, err = s.BlockAt(0)
	assert.Equal(t, ErrNotReady, err)
	assert.Equal(t, ErrNotReady, s.AgentBlocks(1, 1, nil))
	assert.Equal(t, ErrNotReady, s.AgentHistory(1, 1, 1, nil))
	s.Publish()
	require.NoError(t, s.Resume(logging.Genesis("default")))
	assert.Equal(t, errNotOnce, s.Resume(logging.Genesis("default")))
	require.NoError(t, s.Append(blocks[0].raw, &blocks[0].after))
	assert.Error(t, s.Sync(context.Background(), blocks[0].after.Position+1))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Sync(ctx, blocks[0].after.Position); err != nil {
		assert.Equal(t, context.Canceled, err)
	}
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	assert.Equal(t, ErrClosed, s.Append(blocks[1].raw, &blocks[1].after))
	assert.Equal(t, ErrClosed, s.Reset(logging.Genesis("default")))
	_, err = s.ReadFrom(1, func(uint64, *logging.Block) bool { return true })
	assert.Equal(t, ErrClosed, err)
	assert.NoError(t, s.Sync(context.Background(), blocks[0].after.Position)) // Close had done it
}

// A block that does not continue the log is a broken invariant, and final.
func TestAppendOutOfOrder(t *testing.T) {
	blocks := history(6, small, 4)
	for what, wrong := range map[string]func(s *Store) error{
		"left one out": func(s *Store) error { return s.Append(blocks[2].raw, &blocks[2].after) },
		"twice":        func(s *Store) error { return s.Append(blocks[0].raw, &blocks[0].after) },
		"no block":     func(s *Store) error { return s.Append(nil, &blocks[0].after) },
		"other cut": func(s *Store) error {
			after := blocks[1].after
			after.Tail.Start = 7
			return s.Append(blocks[1].raw, &after)
		},
	} {
		t.Run(what, func(t *testing.T) {
			s := openAt(t, t.TempDir(), logging.Genesis("default"))
			appendAll(t, s, blocks[:1])
			assert.Equal(t, errOutOfOrder, wrong(s))
			<-s.Failed()
			assert.Equal(t, errOutOfOrder, s.Append(blocks[1].raw, &blocks[1].after))
			requireLog(t, s, 1, blocks[:1]) // what was there can still be read
			assert.Equal(t, errOutOfOrder, s.Close())
		})
	}
}

// Files of another cluster, another kernel, or a newer program are refused, and
// nothing is touched.
func TestOpenRefuses(t *testing.T) {
	blocks := history(7, small, 30)
	dir := logOf(t, blocks)
	before := filesIn(t, dir, "")
	for _, owner := range [][32]byte{Owner("other", "default"), Owner("test-cluster", "other"), Owner("test-clusterd", "efault")} {
		_, err := Open(dir, Options{Owner: owner})
		var foreign *ForeignError
		require.ErrorAs(t, err, &foreign)
		assert.Equal(t, filepath.Join(dir, name(0, segmentSuffix)), foreign.Path)
	}
	requireSameFiles(t, before, filesIn(t, dir, ""), "after refusals")

	newer := head{owner: testOwner}
	b := newer.append(nil)
	b[offsetVersion] = 1
	b = sealHeader(b)
	path := filepath.Join(dir, name(999999, segmentSuffix))
	require.NoError(t, os.WriteFile(path, b, 0o640))
	_, err := Open(dir, testOptions())
	assert.Equal(t, &VersionError{Path: path, Version: 1}, err)

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o640))
	_, err = Open(file, testOptions())
	assert.Error(t, err)
	assert.False(t, errors.Is(err, ErrClosed))
}

// Leftovers of an interrupted replace are removed; strangers' files are not.
func TestOpenTidies(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name(0, ".idx.123.tmp")), nil, 0o640))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.seg"), []byte("x"), 0o640))
	s := openAt(t, dir, logging.Genesis("default"))
	require.NoError(t, s.Close())
	assert.Empty(t, filesIn(t, dir, tempSuffix))
	assert.Contains(t, filesIn(t, dir, segmentSuffix), "notes.seg")
}
