package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"
)

// Damage to a compacted file, wherever: it is named, the rest is read, and a peer's
// copy heals it.
func TestDamagedCompactedFile(t *testing.T) {
	blocks := archivedHistory(314, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	_, peer, _ := peersOf(t, blocks)
	want := filesIn(t, string(peer.dir), compactedSuffix)
	entry := end.Sealed[2]
	path := name(entry.Start, compactedSuffix)
	for offset := int64(0); offset < int64(len(want[path])); offset += 13 {
		dir := copyDir(t, string(peer.dir))
		changeByte(t, filepath.Join(dir, path), offset, 1<<(offset%8))
		s, err := Open(dir, testOptions())
		require.NoError(t, err)
		require.NoError(t, s.Resume(end))
		if offset < compactedBytes { // no such file, as far as can be told
			require.Equal(t, entry.LastSeq+1, s.Status().FirstSeq)
		} else {
			for i := range blocks {
				b, err := s.BlockAt(blocks[i].before.Position)
				var damaged *CorruptError
				var archived *CompactedError
				if err == nil {
					require.Equal(t, blocks[i].raw, b.Raw)
				} else if !errors.As(err, &damaged) && !errors.As(err, &archived) {
					t.Fatal(err)
				}
			}
			_, err := s.Walk(1, func(*Item) bool { return true })
			var damaged *CorruptError
			require.ErrorAs(t, err, &damaged, "offset %d", offset)
			require.Equal(t, filepath.Join(dir, path), damaged.Path)
			require.LessOrEqual(t, damaged.Offset, offset)
			require.Greater(t, damaged.Offset+2000, offset)
			require.Equal(t, 1, s.Status().Damaged)
		}
		p, missing := s.Missing()
		require.True(t, missing)
		require.Equal(t, Piece{Start: entry.Start, From: entry.Start, To: entry.End()}, p)
		fetchAll(t, peer, s, 400)
		archiveAll(t, s, &end)
		requireSameFiles(t, want, filesIn(t, dir, compactedSuffix), "healed")
		require.Empty(t, filesIn(t, dir, badSuffix))
		if offset%5 == 0 {
			requireCompacted(t, s, blocks)
		}
		require.NoError(t, s.Close())
	}
}

// A compacted file of another cluster or a newer format is refused by name; one that
// is missing is fetched, or made again while the archive is here.
func TestWrongCompactedFiles(t *testing.T) {
	blocks := archivedHistory(315, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	_, peer, _ := peersOf(t, blocks)
	path := name(end.Sealed[2].Start, compactedSuffix)
	want := filesIn(t, string(peer.dir), compactedSuffix)
	for what, header := range map[string]func(b []byte) []byte{
		"foreign": func(b []byte) []byte { b[offsetOwner] ^= 1; return b },
		"newer":   func(b []byte) []byte { b[offsetVersion] = 3; return b },
	} {
		dir := copyDir(t, string(peer.dir))
		b := header(append([]byte(nil), want[path]...))
		copy(b, sealHeader(b[:compactedBytes:compactedBytes]))
		require.NoError(t, os.WriteFile(filepath.Join(dir, path), b, 0o640))
		_, err := Open(dir, testOptions())
		if what == "foreign" {
			require.Equal(t, &ForeignError{Path: filepath.Join(dir, path)}, err)
		} else {
			require.Equal(t, &VersionError{Path: filepath.Join(dir, path), Version: 3}, err)
		}
	}
	s := archivedLog(t, blocks)
	require.NoError(t, s.Close())
	require.NoError(t, os.Remove(filepath.Join(string(s.dir), path)))
	s = openAt(t, string(s.dir), end)
	_, missing := s.Missing()
	require.False(t, missing, "the archive has it")
	archiveAll(t, s, &end)
	requireSameFiles(t, want, filesIn(t, string(s.dir), compactedSuffix), "made again")
	require.NoError(t, s.Close())
	takeAway(t, s)
	require.NoError(t, os.Remove(filepath.Join(string(s.dir), path)))
	s = openAt(t, string(s.dir), end)
	fetchAll(t, peer, s, 400)
	archiveAll(t, s, &end)
	requireSameFiles(t, want, filesIn(t, string(s.dir), compactedSuffix), "fetched")
	requireCompacted(t, s, blocks)
}

// Damage to a file of the archive: it is put aside, and what is kept reads on.
func TestDamagedArchive(t *testing.T) {
	blocks := archivedHistory(316, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	entry := end.Sealed[2]
	for what, damage := range map[string]func(path string) error{
		"flipped":   func(path string) error { changeByte(t, path, headerBytes+70, 2); return nil },
		"truncated": func(path string) error { return os.Truncate(path, 900) },
		"foreign":   func(path string) error { changeByte(t, path, offsetOwner, 1); return nil },
	} {
		t.Run(what, func(t *testing.T) {
			s := archivedLog(t, blocks)
			sound, err := os.ReadFile(s.archive.path(entry.Start, segmentSuffix))
			require.NoError(t, err)
			require.NoError(t, damage(s.archive.path(entry.Start, segmentSuffix)))
			gone := dropped(t, blocks, &end)
			for i := range blocks {
				b, err := s.BlockAt(blocks[i].before.Position)
				if p := blocks[i].before.Position; gone[i] && p >= entry.Start && p < entry.End() {
					if what != "flipped" || err != nil { // until the damage is come upon, it is read
						require.Equal(t, &CompactedError{FirstSeq: entry.LastSeq + 1}, err)
					}
					continue
				}
				require.NoError(t, err, "block %d", i)
				require.Equal(t, blocks[i].raw, b.Raw)
			}
			_, missing := s.Missing()
			require.False(t, missing)
			if what == "flipped" {
				require.Len(t, filesIn(t, string(s.archive), badSuffix), 1)
			}
			require.NoError(t, os.WriteFile(s.archive.path(entry.Start, segmentSuffix), sound, 0o640))
			requireLog(t, s, 1, blocks) // put back, it is used again
		})
	}
}

// A file of the archive that is missing, of another cluster or of a newer format: it
// is named at the start and not read, kept blocks read on, and the right file is used
// again once it is there.
func TestWrongFilesInTheArchive(t *testing.T) {
	blocks := archivedHistory(318, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	entry := end.Sealed[2]
	header := func(change func(b []byte)) func(path string, b []byte) error {
		return func(path string, b []byte) error {
			change(b)
			copy(b, sealHeader(b[:headerBytes:headerBytes]))
			return os.WriteFile(path, b, 0o640)
		}
	}
	for what, spoil := range map[string]func(path string, b []byte) error{
		"missing":                   func(path string, _ []byte) error { return os.Remove(path) },
		"another cluster or kernel": header(func(b []byte) { b[offsetOwner] ^= 1 }),
		"has format version 3":      header(func(b []byte) { b[offsetVersion] = 3 }),
		"incomplete or damaged":     func(path string, _ []byte) error { return os.Truncate(path, 40) },
	} {
		t.Run(what, func(t *testing.T) {
			s := archivedLog(t, blocks)
			require.NoError(t, s.Close())
			path := s.archive.path(entry.Start, segmentSuffix)
			sound, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, spoil(path, bytes.Clone(sound)))
			var said bytes.Buffer
			options := testOptions()
			options.Logger = hclog.New(&hclog.LoggerOptions{Output: &said})
			s, err = Open(string(s.dir), options)
			require.NoError(t, err)
			t.Cleanup(func() { s.Close() })
			require.NoError(t, s.Resume(end))
			if what != "missing" {
				require.Contains(t, said.String(), path)
				require.Contains(t, said.String(), what)
			}
			gone, lacks := dropped(t, blocks, &end), 0
			for i := range blocks {
				b, err := s.BlockAt(blocks[i].before.Position)
				if p := blocks[i].before.Position; gone[i] && p >= entry.Start && p < entry.End() {
					require.Equal(t, &CompactedError{FirstSeq: entry.LastSeq + 1}, err)
					lacks++
					continue
				}
				require.NoError(t, err, "block %d", i)
				require.Equal(t, blocks[i].raw, b.Raw)
			}
			require.Positive(t, lacks)
			_, missing := s.Missing()
			require.False(t, missing)
			require.NoError(t, os.WriteFile(path, sound, 0o640))
			requireLog(t, s, 1, blocks)
		})
	}
}
