package segment

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A download whose fsync fails begins anew, whenever that is found out: which of
// its pages are on the disk is not known, though they all look written. The log
// itself is not concerned.
func TestFetchWithoutFsync(t *testing.T) {
	source := newSource(95, 40<<20)
	source.body = 4000
	peer := openAt(t, t.TempDir(), source.tables)
	for len(source.tables.Sealed) == 0 {
		require.NoError(t, peer.Append(source.step()))
	}
	peer.Publish()
	syncAll(t, peer)
	want := whole(t, peer, source.tables.Sealed[0].Bytes)
	for _, at := range []string{"the next chunks", "another start", "the end"} {
		t.Run(at, func(t *testing.T) {
			var left atomic.Int64
			left.Store(1) // the first fsync passes
			dir := t.TempDir()
			s, err := open(dir, testOptions(), func(path string) (handle, error) {
				file, err := openFile(path)
				if err != nil || !strings.HasSuffix(path, partSuffix) {
					return file, err
				}
				return &failingDisk{handle: file, kind: "fsync", left: &left}, nil
			})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			require.NoError(t, s.Reset(source.tables))
			p, missing := s.Missing()
			require.True(t, missing)
			switch at {
			case "the next chunks":
				require.ErrorIs(t, fetchOne(peer, s, p, 1<<20), errDisk)
			case "another start": // of the download, after a pause
				_, err := fetchMore(peer, s, p, 1<<20, 17)
				require.NoError(t, err)
				s.repair.Lock()
				s.dropPartial()
				s.repair.Unlock()
			case "the end":
				left.Store(1 << 30)
				_, err := fetchMore(peer, s, p, 1<<20, 1<<30)
				require.NoError(t, err)
				left.Store(0)
				require.ErrorIs(t, s.Complete(p), errDisk)
			}
			left.Store(1 << 30)
			have, err := s.Have(p)
			require.NoError(t, err)
			require.Equal(t, p.From, have)
			require.NoError(t, fetchOne(peer, s, p, 1<<20))
			require.True(t, bytes.Equal(want, whole(t, s, source.tables.Sealed[0].Bytes)))
		})
	}
}

// whole is the beginning of a store's log.
func whole(t *testing.T, s *Store, bytes uint64) (content []byte) {
	t.Helper()
	content = make([]byte, bytes)
	for at := uint64(0); at < bytes; {
		n, _, err := s.Serve(at, content[at:])
		require.NoError(t, err)
		at += uint64(n)
	}
	return content
}
