package history_test

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// logExport is the simulation's log as omni log export writes it, from a block
// on.
func logExport(t testing.TB, s *kerneltest.Sim, from int) []byte {
	t.Helper()
	at := logging.Genesis("default").Point
	verifier := logging.NewVerifier(at)
	for _, raw := range s.Blocks[:from] {
		require.NoError(t, verifier.Feed(raw))
	}
	var file bytes.Buffer
	w, err := logexport.NewWriter(&file, "test", "default", verifier.Point())
	require.NoError(t, err)
	for _, raw := range s.Blocks[from:] {
		require.NoError(t, w.Block(raw))
	}
	require.NoError(t, w.Finish())
	return file.Bytes()
}

// agentExport is an agent's history as omni agent export writes it.
func agentExport(t testing.TB, s *kerneltest.Sim, no uint32) []byte {
	t.Helper()
	row := s.State().Agents.Get(no)
	log := s.Placed()
	var file bytes.Buffer
	w, err := logexport.NewSubjectWriter(&file, logexport.SubjectHeader{
		ClusterID: "test", KernelID: "default", AgentID: kerneltest.IDOf(row.Identity.ID), Agent: no,
		Position: row.LastBlock - 1, Head: hex.EncodeToString(row.Head[:]),
	})
	require.NoError(t, err)
	require.NoError(t, w.First(log.Blocks[0]))
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(no); !touched {
			continue
		}
		for _, pointer := range kernel.Elsewhere(b, func(agent uint32) bool { return agent == no }) {
			if !w.Has(pointer) {
				require.NoError(t, w.Body(pointer-1, log.Blocks[pointer-1]))
			}
		}
		require.NoError(t, w.Block(at, b))
	}
	require.NoError(t, w.Finish())
	return file.Bytes()
}

// ledger is a run's, as omni run ledger --export writes it; its header names that id.
func ledger(t testing.TB, s *kerneltest.Sim, run uint32, id string) []byte {
	t.Helper()
	at := s.State().Runs.Ledger(run)
	log := s.Placed()
	var file bytes.Buffer
	w, err := logexport.NewSubjectWriter(&file, logexport.SubjectHeader{
		ClusterID: "test", KernelID: "default", RunID: id, Run: run, Position: at.LastBlock - 1, Head: hex.EncodeToString(at.Head[:]),
	})
	require.NoError(t, err)
	require.NoError(t, w.First(log.Blocks[0]))
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(logging.RunSubject(run)); !touched {
			continue
		}
		for _, pointer := range kernel.Elsewhere(b, func(agent uint32) bool { return s.State().Agents.Get(agent).Run == run }) {
			if !w.Has(pointer) {
				require.NoError(t, w.Body(pointer-1, log.Blocks[pointer-1]))
			}
		}
		require.NoError(t, w.Block(at, b))
	}
	require.NoError(t, w.Finish())
	return file.Bytes()
}

// backedUp is a backup of the simulation.
func backedUp(t testing.TB, s *kerneltest.Sim) []byte {
	t.Helper()
	store, err := segment.Open(t.TempDir(), segment.Options{Owner: segment.Owner("test", "default")})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	tables := logging.Genesis("default")
	require.NoError(t, store.Resume(tables))
	for _, raw := range s.Blocks {
		b, err := logging.Decode(raw)
		require.NoError(t, err)
		tables.Advance(raw, b.Digest(), s.State().Config.SegmentBytes)
		require.NoError(t, store.Append(raw, &tables))
	}
	store.Publish()
	var file bytes.Buffer
	_, err = backup.Write(t.Context(), &file, backup.Source{
		State: s.State(), Log: store, Node: "n1", Binary: "v0", MadeAt: time.Unix(1_750_000_000, 0),
	})
	require.NoError(t, err)
	return file.Bytes()
}
