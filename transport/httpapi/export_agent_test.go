package httpapi_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// LO-4: an agent's export is small, verifies offline, is about the agent alone,
// and replays.
func TestAgentExportReplays(t *testing.T) {
	d := newDoor(t)
	d.start(echo)
	id := d.start(echo).AgentID // its program came with the first one
	for range 5 {
		d.start(literal)
	}
	r := d.get("/agents/" + id + "/export")
	require.Equal(t, http.StatusOK, r.status)
	assert.Equal(t, logexport.AgentContentType, r.header.Get("Content-Type"))
	sum, err := logexport.VerifyAgent(bytes.NewReader(r.body))
	require.NoError(t, err)
	view, err := d.group.Nodes[0].Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
	require.NoError(t, err)
	row := view.Agents.Get(sum.Agent)
	assert.Equal(t, hex.EncodeToString(row.Head[:]), sum.Head, "the node's state says so too")
	assert.Equal(t, "solo-cluster", sum.ClusterID)
	assert.Equal(t, id, sum.AgentID)
	assert.EqualValues(t, 1, sum.Blocks)
	assert.EqualValues(t, 1, sum.Bodies)

	file, err := logexport.NewAgentReader(bytes.NewReader(r.body))
	require.NoError(t, err)
	_, first, err := file.Next()
	require.NoError(t, err)
	agent := replay.NewAgent(sum.Agent, kernel.ConfigIn(first), registry.Lookup, func(no uint32, pointer uint64) ([]byte, error) {
		return kernel.BodyIn(file.Held(pointer), no), nil
	}, replay.Range{})
	for {
		position, b, err := file.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.NoError(t, agent.Block(position, b))
	}
	assert.Positive(t, agent.Stats().Steps)
	refuses(t, d.get("/agents/"+agentB+"/export"), http.StatusNotFound, "NOT_FOUND", "agent")
	refuses(t, d.get("/agents/x/export"), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "agent")

	// A log that cannot be read is answered, not broken off.
	require.NoError(t, d.group.Nodes[0].Log().Close())
	refuses(t, d.get("/agents/"+id+"/export"), http.StatusInternalServerError, "INTERNAL", "")
}
