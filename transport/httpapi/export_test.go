package httpapi_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// LO-1: an export verifies offline, and its chain value is the node's digest at
// the same index.
func TestExportVerifies(t *testing.T) {
	d := newDoor(t)
	for range 5 {
		d.start(echo)
	}
	r := d.get("/log/export")
	require.Equal(t, http.StatusOK, r.status)
	assert.Equal(t, logexport.ContentType, r.header.Get("Content-Type"))
	whole, err := logexport.Verify(bytes.NewReader(r.body))
	require.NoError(t, err)
	status := decode[api.Status](t, d.send(http.MethodGet, "/v1/cluster/status", ""), http.StatusOK)
	assert.Equal(t, status.Nodes[0].Digest, whole.Chain)
	assert.Equal(t, status.Nodes[0].AppliedIndex, whole.LastIndex)
	assert.Equal(t, uint64(6), whole.Blocks)
	assert.True(t, whole.Genesis)
	assert.Equal(t, "solo-cluster", whole.ClusterID)
	assert.Equal(t, uint64(1), whole.FromSeq)
	assert.Equal(t, whole.Records+1, whole.NextSeq)

	part, err := logexport.Verify(bytes.NewReader(d.get("/log/export?from=10").body))
	require.NoError(t, err)
	assert.Equal(t, whole.Chain, part.Chain)
	assert.LessOrEqual(t, part.FromSeq, uint64(10), "whole blocks only")
	assert.Less(t, part.Blocks, whole.Blocks)
	assert.False(t, part.Genesis)

	view, err := d.group.Nodes[0].Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
	require.NoError(t, err)
	nothing, err := logexport.Verify(bytes.NewReader(d.get("/log/export?from=" + jsonNumber(view.Log.NextSeq)).body))
	require.NoError(t, err)
	assert.Zero(t, nothing.Blocks)
	assert.Equal(t, hex.EncodeToString(view.Log.Chain[:]), nothing.Chain)
}
