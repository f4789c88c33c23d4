package raftstore

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// termed is a store that has voted in term 5, as the library does, has entries up to term
// 4, and is at term 6.
func termed(t *testing.T, kind Kind, dir string) (*Store, *disk, chan error) {
	t.Helper()
	store, files, died := onDisk(t, kind, dir)
	stable := store.Stable()
	require.NoError(t, stable.SetUint64([]byte(keyTerm), 6))
	require.NoError(t, stable.SetUint64([]byte(keyVoteTerm), 5))
	require.NoError(t, stable.Set([]byte(keyVoteCandidate), []byte("10.0.0.1:7800")))
	require.NoError(t, store.Logs().StoreLog(&raft.Log{Index: 1, Term: 4, Type: raft.LogNoop}))
	return store, files, died
}

// FT-1: no bit of a vote can flip unnoticed, in either store; and a term is refused that
// is below what the node has done in it.
func TestEveryBitOfAVote(t *testing.T) {
	for _, kind := range []Kind{Bolt, WAL} {
		t.Run(string(kind), func(t *testing.T) {
			store, files, died := termed(t, kind, t.TempDir())
			require.NoError(t, store.CheckTerm(3))
			record, err := files.Get([]byte(keyVote))
			require.NoError(t, err)
			sound := append([]byte(nil), record...)
			for bit := range 8 * len(sound) {
				damaged := append([]byte(nil), sound...)
				damaged[bit/8] ^= 1 << (bit % 8)
				_, _, err := decodeVote(damaged)
				require.ErrorIs(t, err, ErrCorrupt, "bit %d", bit)
			}
			for length := range len(sound) { // only if the file's pages were damaged, which are looked at before
				_, candidate, err := decodeVote(sound[:length])
				switch {
				case length < 8:
					require.ErrorIs(t, err, ErrCorrupt)
				case length != len(sound)-voteEnd: // or as an older binary writes it
					require.NotEqual(t, "10.0.0.1:7800", string(candidate), "another's, who is granted nothing")
				}
			}
			sound[3] ^= 1
			require.NoError(t, files.Set([]byte(keyVote), sound))
			err = store.CheckTerm(3)
			require.ErrorIs(t, err, ErrCorrupt)
			require.ErrorContains(t, err, store.Path())
			require.ErrorIs(t, <-died, ErrCorrupt, "a vote that is read is damaged: the store ends")
		})
	}
}

// A term below the vote's, the last entry's or the snapshot's is refused; one that is not
// there, too.
func TestTermsThatCannotBe(t *testing.T) {
	for _, kind := range []Kind{Bolt, WAL} {
		t.Run(string(kind), func(t *testing.T) {
			store, files, died := termed(t, kind, t.TempDir())
			for term, why := range map[uint64]string{4: "voted in term 5", 3: "voted in term 5", 0: "voted in term 5"} {
				require.NoError(t, files.Set([]byte(keyTerm), binary.BigEndian.AppendUint64(nil, term)))
				err := store.CheckTerm(0)
				require.ErrorIs(t, err, ErrCorrupt)
				require.ErrorContains(t, err, why)
			}
			require.NoError(t, files.Set([]byte(keyTerm), binary.BigEndian.AppendUint64(nil, 6)))
			require.ErrorContains(t, store.CheckTerm(7), "its last snapshot is of term 7")
			require.NoError(t, store.Logs().StoreLog(&raft.Log{Index: 2, Term: 8, Type: raft.LogNoop}))
			require.ErrorContains(t, store.CheckTerm(0), "its last entry is of term 8")
			require.NoError(t, files.Set([]byte(keyTerm), binary.BigEndian.AppendUint64(nil, 8)))
			require.NoError(t, store.CheckTerm(8))
			require.Empty(t, died)

			store, _, _ = onDisk(t, kind, t.TempDir())
			require.NoError(t, store.CheckTerm(0), "a new one")
			require.Error(t, store.CheckTerm(1))
		})
	}
}

// A vote as binaries of kernel version 1 write it is read, and theirs is read of a new
// one that nobody has the candidate's name.
func TestVoteOfAnOlderBinary(t *testing.T) {
	old := append(binary.BigEndian.AppendUint64(nil, 5), "10.0.0.1:7800"...)
	term, candidate, err := decodeVote(old)
	require.NoError(t, err)
	require.Equal(t, uint64(5), term)
	require.Equal(t, "10.0.0.1:7800", string(candidate))
	record := encodeVote(5, []byte("10.0.0.1:7800"))
	require.Equal(t, old, record[:len(old)])
	require.Len(t, record, len(old)+voteEnd, "and more, which makes it another's")
}

// A term or a vote under a damaged name is not taken for none.
func TestNamesOfValues(t *testing.T) {
	for _, kind := range []Kind{Bolt, WAL} {
		t.Run(string(kind), func(t *testing.T) {
			dir := t.TempDir()
			store, files, _ := termed(t, kind, dir)
			require.NoError(t, files.Set([]byte("Votd"), []byte("x")))
			require.NoError(t, store.Close())
			o, err := Options{Kind: kind, Dir: dir, Fatal: func(err error) { t.Error(err) }}.withDefaults()
			require.NoError(t, err)
			_, err = Open(o)
			require.ErrorIs(t, err, ErrCorrupt)
			require.ErrorContains(t, err, `"Votd"`)
			require.ErrorContains(t, err, filepath.Dir(o.path()))
		})
	}
}
