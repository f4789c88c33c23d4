package segment

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// imported imports the items of a store, changed by change, for another owner.
func imported(t *testing.T, s *Store, end *logging.Tables, change func(n int, raw []byte) []byte) (string, error) {
	t.Helper()
	dir := scratch(t)
	in, err := NewImport(dir, Owner("restored", "default"), end)
	require.NoError(t, err)
	verifier, n := logging.NewVerifier(logging.Genesis("default").Point), 0
	var failed error
	_, err = s.Walk(1, func(i *Item) bool {
		require.NoError(t, i.feed(verifier))
		raw := i.Block.Raw
		if i.Archived() {
			raw = i.Stub.AppendTo(nil)
		}
		if raw = change(n, raw); raw != nil {
			failed = in.Add(raw, verifier.Point())
		}
		n++
		return failed == nil
	})
	require.NoError(t, err)
	if failed == nil {
		failed = in.Finish()
	}
	require.NoError(t, in.Abort())
	return dir, failed
}

func same(_ int, raw []byte) []byte { return raw }

// A log with stubs in it is imported as another cluster's: the same blocks are kept,
// and once the archiver has seen to it the files are as if it had been archived there.
func TestImport(t *testing.T) {
	blocks := archivedHistory(331, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	for what, half := range map[string]bool{"no archive": false, "half of the archive": true} {
		t.Run(what, func(t *testing.T) {
			s := archivedLog(t, blocks)
			want := filesIn(t, string(s.dir), compactedSuffix)
			takeAway(t, s)
			if half {
				full := fullLog(t, blocks)
				for n := range end.Sealed {
					if entry := &end.Sealed[n]; entry.ArchivedAt != 0 && n%2 == 0 {
						b, err := os.ReadFile(full.dir.path(entry.Start, segmentSuffix))
						require.NoError(t, err)
						require.NoError(t, os.WriteFile(s.archive.path(entry.Start, segmentSuffix), b, 0o640))
					}
				}
			}
			dir, err := imported(t, s, &end, same)
			require.NoError(t, err)
			require.Empty(t, filesIn(t, dir, tempSuffix))
			options := testOptions()
			options.Owner = Owner("restored", "default")
			back, err := Open(dir, options)
			require.NoError(t, err)
			t.Cleanup(func() { back.Close() })
			require.NoError(t, back.Resume(end))
			require.EqualValues(t, 1, back.Status().FirstSeq)
			_, missing := back.Missing()
			require.False(t, missing)
			archiveAll(t, back, &end)
			takeAway(t, back)
			requireCompacted(t, back, blocks)
			for file, content := range filesIn(t, dir, compactedSuffix) {
				require.Equal(t, want[file][compactedBytes:], content[compactedBytes:])
				require.Equal(t, want[file][offsetStart:compactedBytes], content[offsetStart:compactedBytes])
			}
			require.Len(t, filesIn(t, dir, compactedSuffix), len(want))
		})
	}
}

// What ends early, or has a stub in a segment that was never archived, is no import.
func TestImportOfAnotherLog(t *testing.T) {
	blocks := archivedHistory(332, small, 120, map[int]uint64{70: 650})
	end := blocks[119].after
	s := fullLog(t, blocks)
	stub := func(raw []byte) []byte {
		b, err := logging.Decode(raw)
		require.NoError(t, err)
		s := logging.StubOf(&b)
		return s.AppendTo(nil)
	}
	for what, change := range map[string]func(n int, raw []byte) []byte{
		"the last is missing": func(n int, raw []byte) []byte {
			if n == len(blocks)-1 {
				return nil
			}
			return raw
		},
		"a stub in the tail": func(n int, raw []byte) []byte {
			if n == len(blocks)-1 {
				return stub(raw)
			}
			return raw
		},
		"a stub in a segment that was not archived": func(n int, raw []byte) []byte {
			if blocks[n].before.Position >= end.Sealed[len(end.Sealed)-1].Start {
				return stub(raw)
			}
			return raw
		},
	} {
		dir, err := imported(t, s, &end, change)
		require.ErrorIs(t, err, ErrImport, what)
		require.Empty(t, filesIn(t, dir, tempSuffix), what)
	}
	other := end
	other.Sealed = append([]logging.Segment(nil), end.Sealed...)
	other.Sealed[1].ChainOut[0] ^= 1
	_, err := imported(t, s, &other, same)
	require.ErrorIs(t, err, ErrImport)
}
