package lineage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/lineage"
)

// node is a node that is fresh or not, and what it is told.
type node struct {
	fresh bool
	told  []string
}

func (n *node) Fresh() bool          { return n.fresh }
func (n *node) Outlived(peer string) { n.told = append(n.told, peer) }

// A node that has nothing adopts what it is told first, on disk; nobody else does (ME-9).
func TestLine(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, datadir.Claim(dir, "omni", "n4"))
	open := func() *lineage.Line {
		line, err := lineage.Open(dir, hclog.NewNullLogger())
		require.NoError(t, err)
		return line
	}
	line := open()
	require.Empty(t, line.Own())
	require.False(t, line.Adopt("aaaaaaaa"), "the node is not open")
	line.Outlived("n1")
	n := &node{}
	line.Follow(n)
	require.False(t, line.Adopt("aaaaaaaa"), "it has something")
	n.fresh = true
	require.True(t, line.Adopt("aaaaaaaa"))
	require.Equal(t, "aaaaaaaa", line.Own())
	require.Equal(t, "aaaaaaaa", open().Own())
	n.fresh = false
	require.True(t, line.Adopt("aaaaaaaa"), "another stream was first")
	require.False(t, line.Adopt("aaaaaaaa.bbbbbbbb"))
	line.Outlived("n1")
	require.Equal(t, []string{"n1"}, n.told)
	var none *lineage.Line
	none.Follow(n)
	require.Empty(t, none.Own())
}

// A lineage grows by one id for each recovery, once, and always fits into a handshake.
func TestExtend(t *testing.T) {
	own := ""
	for i := range 28 {
		next, err := lineage.Extend(own, fmt.Sprintf("%08x", i))
		require.NoError(t, err)
		require.Equal(t, strings.TrimPrefix(own+fmt.Sprintf(".%08x", i), "."), next)
		require.True(t, lineage.Ends(next, fmt.Sprintf("%08x", i)))
		require.False(t, lineage.Ends(own, fmt.Sprintf("%08x", i)))
		again, err := lineage.Extend(next, fmt.Sprintf("%08x", i))
		require.NoError(t, err)
		require.Equal(t, next, again)
		own = next
	}
	require.LessOrEqual(t, len(own), 255)
	_, err := lineage.Extend(own, "aaaaaaaa")
	require.ErrorContains(t, err, "28 times")
	for _, wrong := range []string{"", "aaaaaaa", "aaaaaaaab"} {
		_, err := lineage.Extend("", wrong)
		require.ErrorContains(t, err, "is no id of a recovery")
		require.False(t, lineage.Ends("aaaaaaaa", wrong))
	}
	one, err := lineage.NewID()
	require.NoError(t, err)
	other, err := lineage.NewID()
	require.NoError(t, err)
	require.NotEqual(t, one, other)
	_, err = lineage.Extend(own[:9*27-1], one)
	require.NoError(t, err)
}
