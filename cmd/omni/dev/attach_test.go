package dev

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAttachedSignalsTheNodeThatRuns(t *testing.T) {
	c := start(t, Options{DataDir: t.TempDir()})
	a, err := Attach(c.Dir())
	require.NoError(t, err)
	assert.Equal(t, c.File(), a.File())
	before := c.File().Nodes[1].PID
	require.NoError(t, a.Signal("n2", syscall.SIGKILL))
	eventually(t, "n2 ends", func() bool { return c.File().Nodes[1].PID != before })
	assert.ErrorContains(t, a.Signal("n2", syscall.SIGKILL), "n2 does not run")
	assert.ErrorContains(t, a.Signal("n7", syscall.SIGKILL), "there is no node n7")
}

// A number in the file may belong to somebody else by now: this test, say.
func TestAttachedSparesStrangers(t *testing.T) {
	dir := t.TempDir()
	f := File{ClusterID: "c", KernelID: "default", Nodes: []Node{{ID: "n1", PID: os.Getpid()}}}
	require.NoError(t, f.write(dir))
	a, err := Attach(dir)
	require.NoError(t, err)
	assert.ErrorContains(t, a.Signal("n1", syscall.SIGKILL), "is not node n1 any more")
}

func TestAttachNeedsACluster(t *testing.T) {
	dir := t.TempDir()
	_, err := Attach(dir)
	assert.EqualError(t, err, dir+" holds no dev cluster: there is no dev.json")
}
