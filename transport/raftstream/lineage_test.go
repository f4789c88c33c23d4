package raftstream

import (
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"github.com/stretchr/testify/require"
)

// Three recoveries.
const (
	one   = "aaaaaaaa"
	two   = "bbbbbbbb"
	three = "cccccccc"
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

func (l *line) Fresh() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh
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
		passed         int // to the caller; the called believes no caller
	}{
		"before the recovery":     {"", one, Outlived, 4},
		"between two":             {one, one + "." + two, Outlived, 4},
		"of a node before":        {one, "", Unrecovered, 0},
		"of a node between":       {one + "." + two + "." + three, one, Unrecovered, 0},
		"each without the other":  {one, two, Parted, 0},
		"after one that they had": {one + "." + two, one + "." + three, Parted, 0},
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
			require.Len(t, caller.passed, row.passed)
			require.Empty(t, called.passed)
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

	recovered := kernel(t, listen(t, "recovered", (&line{own: one + "." + two}).option), "k")
	_, err = recovered.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	require.NoError(t, err)
	accepted(t, served)
	require.Equal(t, one+"."+two, fresh.Own())
	for _, end := range []interface{ Read([]byte) (int, error) }{here, before} {
		_, err = end.Read(make([]byte, 1))
		require.Error(t, err)
	}
	_, err = old.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	var refused *Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Outlived, refused.Code)

	fresh.mu.Lock()
	fresh.fresh = true // what it was told was all: it still has nothing
	fresh.mu.Unlock()
	_, err = old.Layer().Dial(raft.ServerAddress(server.Address()), 5*time.Second)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, Parted, refused.Code, "it speaks for nobody")
}
