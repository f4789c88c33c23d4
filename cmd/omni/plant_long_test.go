//go:build long

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// plant gives the first two nodes a history of so many bytes, and so many values in
// their state, without writing it over Raft: as after a restore from a backup, Raft
// begins at a snapshot. The last node gets nothing.
func (p *processes) plant(bytes, values uint64) (written uint64) {
	p.t.Helper()
	const clusterID, kernelID = "omni", "default"
	var members []consensus.Member
	for i := range p.dirs {
		members = append(members, consensus.Member{ID: p.id(i), Address: p.raft[i], Voter: true})
		require.NoError(p.t, os.MkdirAll(p.dirs[i], 0o700))
	}
	dir, raftDir := p.dirs[0], datadir.RaftDir(p.dirs[0], kernelID)
	log, err := segment.Open(datadir.LogDir(dir, kernelID), segment.Options{Owner: segment.Owner(clusterID, kernelID)})
	require.NoError(p.t, err)
	machine := fsm.New(fsm.Options{
		ClusterID: clusterID, KernelID: kernelID, Log: log, Evaluators: registry.Lookup, Logger: hclog.NewNullLogger(),
		Fatal: func(err error) { p.t.Errorf("planting: %v", err) },
	})
	index := uint64(1) // the configuration's
	for index == 1 || machine.State().Log.Position < bytes {
		machine.ApplyBatch(somethingToKeep(&index, values, clusterID, kernelID))
		require.False(p.t, p.t.Failed())
	}
	store, err := raftstore.Open(raftstore.Options{Kind: raftstore.Bolt, Dir: raftDir, Fatal: func(err error) { p.t.Error(err) }})
	require.NoError(p.t, err)
	require.NoError(p.t, consensus.SeedTerm(store.Stable(), 1))
	require.NoError(p.t, store.Close())
	sink, err := consensus.SeedSnapshot(raftDir, index, 1, members)
	require.NoError(p.t, err)
	captured, err := machine.Snapshot()
	require.NoError(p.t, err)
	require.NoError(p.t, captured.Persist(sink))
	require.NoError(p.t, log.Close())
	copyTree(p.t, dir, p.dirs[1])
	return machine.State().Log.Position
}

// somethingToKeep is a batch of commands whose records are large; the state is
// some of the values.
func somethingToKeep(index *uint64, values uint64, clusterID, kernelID string) []*raft.Log {
	logs := make([]*raft.Log, 0, 64)
	for range cap(logs) {
		e := event.Event{
			Kind: event.SharedPut, Principal: "client",
			Body: event.Encode(event.PutShared{
				Namespace: "history", Key: fmt.Sprint(*index % values), Value: value.Raw(value.AppendString(nil, fmt.Sprintf("%08d%s", *index, strings.Repeat("v", 8000)))),
			}),
		}
		if *index == 1 {
			limits := config.Default()
			limits.ClusterID, limits.KernelID = clusterID, kernelID
			e = event.Event{Kind: event.KernelBooted, Principal: "node:n1", Body: event.Encode(limits)}
		}
		*index++
		e.Wall = time.Now().UnixMilli()
		logs = append(logs, &raft.Log{Index: *index, Term: 1, Type: raft.LogCommand, Data: e.Append(nil)})
	}
	return logs
}

// copyTree copies files; what never changes again is linked.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	sealed, err := filepath.Glob(filepath.Join(from, "kernels", "default", "log", "*.seg"))
	require.NoError(t, err)
	slices.Sort(sealed)
	sealed = sealed[:len(sealed)-1]
	require.NoError(t, filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case slices.Contains(sealed, path):
			return os.Link(path, target)
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(target)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	}))
}
