package httpapi_test

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/backups"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/transport/api"
)

// A backup over the API is whole, and holds what was acknowledged before it was
// asked for.
func TestBackupOverTheAPI(t *testing.T) {
	d := newDoor(t)
	for range 5 {
		d.start(echo)
	}
	r := d.get("/backup")
	require.Equal(t, http.StatusOK, r.status)
	assert.Equal(t, backup.ContentType, r.header.Get("Content-Type"))
	assert.Contains(t, r.header.Get("Content-Disposition"), ".omniback")
	report, err := backup.Verify(t.Context(), bytes.NewReader(r.body), backup.Options{Deep: true, Evaluators: registry.Lookup})
	require.NoError(t, err)
	view, err := d.group.Nodes[0].Read(t.Context(), cluster.Consistency{Level: cluster.Stale})
	require.NoError(t, err)
	assert.Equal(t, view.Index, report.Index)
	assert.Equal(t, hex.EncodeToString(view.Log.Chain[:]), report.Chain)
	assert.Equal(t, "solo-cluster", report.ClusterID)
	assert.EqualValues(t, 5, report.Content.Agents)
	assert.Equal(t, int64(len(r.body)), report.Bytes)
}

// A node that lacks the beginning of the log says so, and what to do; one that stops
// breaks the backup off, and nobody takes it for whole.
func TestBackupThatIsNotToBeHad(t *testing.T) {
	d := newDoor(t)
	d.start(echo)
	e := decode[api.Error](t, d.get("/backup?consistency=nonsense"), http.StatusUnprocessableEntity)
	assert.Equal(t, "consistency", e.Field)
	require.NoError(t, d.group.Nodes[0].Forget())
	d.start(echo)
	e = decode[api.Error](t, d.get("/backup"), http.StatusServiceUnavailable)
	assert.Equal(t, api.CodeHistoryBehind, e.Code)
	assert.Contains(t, e.Hint, "ask another node")
	assert.NotZero(t, e.First)
}

// A node whose backups fail says so, and is healthy all the same: a full disk for
// backups is no reason to take it out of service.
func TestFailingBackupsAreTold(t *testing.T) {
	d := newDoor(t)
	health := func() api.Health { return decode[api.Health](t, d.send(http.MethodGet, "/healthz", ""), http.StatusOK) }
	assert.Nil(t, health().Backups)
	d.group.Nodes[0].Scheduled.Store(&backups.Status{Dir: "/b", File: "/b/x", Index: 7, Error: "disk full", Failures: 2})
	assert.Equal(t, api.Health{Status: "ok", Node: "n1", State: "Running", Backups: &api.Backups{
		Dir: "/b", File: "/b/x", Index: 7, Error: "disk full", Failures: 2,
	}}, health())
}
