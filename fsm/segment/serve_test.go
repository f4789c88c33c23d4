package segment

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Serve gives the log's bytes from any position, out of memory and out of files,
// within one segment, and nothing that is not published.
func TestServe(t *testing.T) {
	blocks := history(241, small, 60)
	var all []byte
	for i := range blocks {
		all = append(all, blocks[i].raw...)
	}
	s := openAt(t, scratch(t), blocks[0].before)
	appendAll(t, s, blocks[:50])
	published := blocks[49].after
	for i := range blocks[50:] {
		require.NoError(t, s.Append(blocks[50+i].raw, &blocks[50+i].after))
	}
	for range 2 {
		for position := uint64(0); position < published.Position; position += 13 {
			dst := make([]byte, 1500)
			n, next, err := s.Serve(position, dst)
			require.NoError(t, err)
			require.Positive(t, n)
			require.Equal(t, position+uint64(n), next)
			require.Equal(t, all[position:position+uint64(n)], dst[:n])
			end := published.Position
			if entry := sealedAround(append(published.Sealed[:len(published.Sealed):len(published.Sealed)],
				logging.Segment{Start: published.Tail.Start, Bytes: 1 << 20}), position); entry.End() < end {
				end = entry.End()
			}
			require.LessOrEqual(t, position+uint64(n), end)
		}
		_, _, err := s.Serve(published.Position, make([]byte, 10))
		require.Equal(t, &AheadError{NextSeq: published.NextSeq}, err)
		syncAll(t, s)
	}
	n, _, err := s.Serve(0, nil)
	require.NoError(t, err)
	require.Zero(t, n)

	at := middleOf(t, blocks)
	behind := resetAt(t, scratch(t), blocks, at)
	_, _, err = behind.Serve(blocks[at].before.Position-1, make([]byte, 10))
	require.Equal(t, &HistoryBehindError{FirstSeq: blocks[at].before.NextSeq}, err)
	require.NoError(t, behind.Close())
	_, _, err = behind.Serve(0, make([]byte, 10))
	require.Equal(t, ErrClosed, err)
	p := Piece{To: 10}
	_, err = behind.Have(p)
	require.Equal(t, ErrClosed, err)
	require.Equal(t, ErrClosed, behind.Accept(p, 0, nil))
	require.Equal(t, ErrClosed, behind.Complete(p))
	fresh, err := Open(scratch(t), testOptions())
	require.NoError(t, err)
	defer fresh.Close()
	_, missing := fresh.Missing()
	require.False(t, missing)
	require.False(t, fresh.Status().Resumed)
	_, err = fresh.Have(p)
	require.Equal(t, ErrNotReady, err)
}

// Two nodes append while one fetches from the other, is reset further on, and is
// read: nothing waits for anything for ever, no read is wrong, and in the end the
// files are the same.
func TestFetchingWhileWriting(t *testing.T) {
	const count = 3000
	blocks := history(242, 20_000, count)
	peer, s := openAt(t, scratch(t), blocks[0].before), resetAt(t, scratch(t), blocks, 200)
	appendAll(t, peer, blocks[:1000])
	var group sync.WaitGroup
	var stop atomic.Bool
	group.Go(func() {
		for i := 1000; i < count; i++ {
			if !assert.NoError(t, peer.Append(blocks[i].raw, &blocks[i].after)) {
				return
			}
			peer.Publish()
		}
	})
	group.Go(func() {
		defer stop.Store(true)
		for i := 200; i < count; i++ {
			if i == 700 || i == 900 { // a snapshot from the leader, further on
				i += 50
				if !assert.NoError(t, s.Reset(blocks[i].before)) {
					return
				}
			}
			if !assert.NoError(t, s.Append(blocks[i].raw, &blocks[i].after)) {
				return
			}
			s.Publish()
		}
	})
	group.Go(func() {
		for !stop.Load() {
			if p, missing := s.Missing(); missing {
				err := fetchOne(peer, s, p, 1777)
				var ahead *AheadError
				if err != nil && !errors.Is(err, ErrNotMissing) && !errors.As(err, &ahead) {
					t.Error(err)
					return
				}
			}
		}
	})
	for i := range 2 {
		group.Go(func() {
			for at := i; !stop.Load(); at = (at + 37) % 1000 {
				b, err := s.BlockAt(blocks[at].before.Position)
				if err == nil {
					assert.Equal(t, blocks[at].raw, b.Raw)
					continue
				}
				var behind *HistoryBehindError
				var ahead *AheadError
				if !errors.As(err, &behind) && !errors.As(err, &ahead) {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	fetchAll(t, peer, s, 5000)
	requireWhole(t, s, peer, blocks)
	require.Zero(t, s.Status().Damaged)
}

// Close ends a download between two chunks, and none goes on.
func TestCloseWhileFetching(t *testing.T) {
	blocks := history(243, 20_000, 1000)
	peer := fullLog(t, blocks)
	s := resetAt(t, scratch(t), blocks, 900)
	done := make(chan error, 1)
	go func() {
		var err error
		for p, missing := s.Missing(); missing && err == nil; p, missing = s.Missing() {
			err = fetchOne(peer, s, p, 100)
		}
		done <- err
	}()
	eventually(t, "a piece", func() bool { return s.Status().FirstSeq < blocks[900].before.NextSeq })
	require.NoError(t, s.Close())
	if err := <-done; err != nil {
		require.Equal(t, ErrClosed, err)
	}
	again := openAt(t, string(s.dir), blocks[900].before)
	appendAll(t, again, blocks[900:])
	fetchAll(t, peer, again, 5000)
	requireWhole(t, again, peer, blocks)
}
