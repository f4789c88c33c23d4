package raftstream

import (
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// line is a node's lineage, and what it is told of others'.
type line struct {
	mu     sync.Mutex // guards what follows
	own    string
	fresh  bool // it adopts
	passed []string
}

func (l *line) Own() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.own
}

func (l *line) Adopt(later string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fresh {
		l.own, l.fresh = later, false
		return true
	}
	return false
}

func (l *line) Outlived(peer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed = append(l.passed, peer)
}

func (l *line) option(o *Options) { o.Lineage = l }

// Nothing goes between a node of a recovered cluster and one of what was before, in
// either direction; both are told, and say so (ME-9).
func TestLineages(t *testing.T) {
	for name, row := range map[string]struct {
		caller, called string
		code           RefusalCode
		passed         int // 1: the caller, 2: the called
	}{
		"before the recovery":       {"", "a", Outlived, 1},
		"between two":               {"a", "a.b", Outlived, 1},
		"of a node before":          {"a", "", Unrecovered, 2},
		"of a node between":         {"a.b.c", "a", Unrecovered, 2},
		"each without the other":    {"a", "b", Parted, 0},
		"after one that they had":   {"a.b", "a.c", Parted, 0},
		"an id that begins like it": {"a", "ab", Parted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var said, told lines
			caller, called := &line{own: row.caller}, &line{own: row.called}
			server := listen(t, "server", called.option, told.option)
			kernel(t, server, "k")
			k := kernel(t, listen(t, "client", caller.option, said.option), "k")
			for range 2 {
				_, err := k.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
				var refused *Refused
				require.ErrorAs(t, err, &refused)
				require.Equal(t, row.code, refused.Code)
				_, err = k.Peers().Call(within(t, 5*time.Second), server.Address(), 1, nil)
				require.ErrorContains(t, err, row.code.String())
			}
			require.Equal(t, 1, said.containing(row.code.String()), "told once")
			require.Equal(t, 1, told.containing("a node was turned away"))
			var passed [3]int
			passed[1], passed[2] = len(caller.passed), len(called.passed)
			var want [3]int
			if row.passed > 0 {
				want[row.passed] = 4
			}
			require.Equal(t, want, passed)
		})
	}
}

// A node that has nothing yet belongs to whoever calls it first; what it had open with
// others ends.
func TestLineageOfAnEmptyNode(t *testing.T) {
	fresh := &line{fresh: true}
	server := listen(t, "server", fresh.option)
	served := kernel(t, server, "k")
	old := kernel(t, listen(t, "old"), "k")
	before, err := old.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	require.NoError(t, err)
	here := accepted(t, served)

	recovered := kernel(t, listen(t, "recovered", (&line{own: "a.b"}).option), "k")
	_, err = recovered.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	require.NoError(t, err)
	accepted(t, served)
	require.Equal(t, "a.b", fresh.Own())
	for _, end := range []interface{ Read([]byte) (int, error) }{here, before} {
		_, err = end.Read(make([]byte, 1))
		require.Error(t, err)
	}
	_, err = old.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Outlived, refused.Code)
}
