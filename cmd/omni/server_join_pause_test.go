package main

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/transport/api"
)

// A node that is refused asks less and less often, and as soon as before when it is not.
func TestJoinerRestsAfterRefusals(t *testing.T) {
	rest := joinLook
	var rests []time.Duration
	for range 9 {
		rest = afterwards(rest, true)
		rests = append(rests, rest)
	}
	require.Equal(t, []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute, time.Minute,
	}, rests)
	require.Equal(t, joinLook, afterwards(rest, false))
	for code, refused := range map[string]bool{
		cluster.CodeNoAnswer: true, cluster.CodeMajority: true, "FORBIDDEN": true, cluster.CodeNoLeader: false,
	} {
		require.Equal(t, refused, isRefused(&api.Error{Code: code, Definite: true}), code)
	}
	require.False(t, isRefused(io.ErrUnexpectedEOF))
}

// The token that had a node taken in may be thrown away then: the node starts without it.
func TestMembersStartWithoutTheirToken(t *testing.T) {
	begin := func(owned bool) error {
		f := &serverFlags{}
		f.joining = joining{
			join: []string{"http://" + freeAddresses(t, 1)[0]}, owned: owned,
			app: &app{bearer: bearer{file: filepath.Join(t.TempDir(), "join.token")}},
		}
		s := &standing{lost: make(chan error, 1)}
		stop, err := s.beginJoin(f, &cluster.Config{NodeID: "n4", State: nodestate.New(nodestate.Options{}), Logger: hclog.NewNullLogger()})
		if err == nil {
			stop()
		}
		return err
	}
	require.NoError(t, begin(true))
	require.ErrorContains(t, begin(false), "--token-file")
}
