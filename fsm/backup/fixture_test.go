package backup_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// history is a random one, in a real log of many small segments.
func history(t testing.TB, steps int) (*kerneltest.History, *segment.Store) {
	t.Helper()
	h := kerneltest.NewHistory(t, 1, 40, kerneltest.NewSeeded(7))
	store, err := segment.Open(t.TempDir(), segment.Options{Owner: segment.Owner("test", "default")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	tables := logging.Genesis("default")
	require.NoError(t, store.Resume(tables))
	h.Run(steps)
	keep(h, store, &tables)
	return h, store
}

// keep puts what has happened since into the log.
func keep(h *kerneltest.History, store *segment.Store, tables *logging.Tables) {
	h.T.Helper()
	for _, raw := range h.Blocks {
		b, err := logging.Decode(raw)
		require.NoError(h.T, err)
		if b.Index > tables.LastIndex {
			tables.Advance(raw, b.Digest(), h.State().Config.SegmentBytes)
			require.NoError(h.T, store.Append(raw, tables))
		}
	}
	store.Publish()
}

func source(s *state.State, log backup.Log) backup.Source {
	return backup.Source{
		State: s, Log: log, Node: "n1", Binary: "v0",
		MadeAt: time.Date(2025, 11, 21, 3, 4, 5, 600, time.FixedZone("somewhere", 3600)),
	}
}

// sample is a backup of a random history, and the state in it.
func sample(t testing.TB, steps int) ([]byte, backup.Summary, *state.State) {
	t.Helper()
	h, store := history(t, steps)
	var file bytes.Buffer
	sum, err := backup.Write(t.Context(), &file, source(h.State(), store))
	require.NoError(t, err)
	require.EqualValues(t, file.Len(), sum.Bytes)
	return file.Bytes(), sum, h.State()
}

// frame is where one lies.
type frame struct {
	part        backup.Part
	offset, end int // of the whole, its checksum included
}

const startBytes, headBytes, sumBytes = 12, 5, 4

// framesOf takes a sound backup apart.
func framesOf(t testing.TB, file []byte) (all []frame) {
	t.Helper()
	for at := startBytes; at < len(file); {
		length := int(binary.LittleEndian.Uint32(file[at+1:]))
		all = append(all, frame{backup.Part(file[at]), at, at + headBytes + length + sumBytes})
		at += headBytes + length + sumBytes
	}
	require.Equal(t, len(file), all[len(all)-1].end)
	return all
}
