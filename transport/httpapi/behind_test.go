package httpapi_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// A part of the log that is found damaged is history that this node does not have:
// a client asks another one.
func TestHistoryThatIsDamaged(t *testing.T) {
	d := newDoorWith(t, solo.Setup{Config: func(c *config.Config) { c.SegmentBytes = 4096 }}, httpapi.Options{})
	for range 60 {
		require.Equal(t, http.StatusCreated, d.post("/agents", `{"program":`+echo+`}`).status)
	}
	segments := decode[api.LogSegments](t, d.get("/log/segments"), http.StatusOK).Segments
	require.Greater(t, len(segments), 1)
	files, err := filepath.Glob(filepath.Join(d.group.Nodes[0].LogDir(), "*.seg"))
	require.NoError(t, err)
	content, err := os.ReadFile(files[0])
	require.NoError(t, err)
	content[len(content)/2] ^= 4
	require.NoError(t, os.WriteFile(files[0], content, 0o600))

	for range 2 { // when it is met, and when it is known
		e := refuses(t, d.get("/log?limit=1000"), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from")
		assert.Greater(t, e.First, segments[0].LastSeq)
	}
	assert.Equal(t, http.StatusOK, d.get(fmt.Sprintf("/log?from=%d", segments[1].FirstSeq)).status)
}

// CL-5: a node that started from a snapshot says what it does not have, and
// from where on it has everything; agents younger than that it knows whole.
func TestHistoryThatIsNotHere(t *testing.T) {
	d := newDoor(t)
	old := d.start(literal)
	require.NoError(t, d.group.Nodes[0].Forget())
	young := d.start(literal)

	_, r := d.watch(t, "?from=1")
	for _, e := range []api.Error{
		refuses(t, *r, http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
		refuses(t, d.get("/log"), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
		refuses(t, d.get("/agents/"+old.AgentID+"/export"), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
		refuses(t, d.get("/log/export"), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
		refuses(t, d.post("/agents/"+old.AgentID+"/fork", fmt.Sprintf(`{"at":%d}`, old.BusSeq)), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
		refuses(t, d.get("/agents/"+old.AgentID+"/history"), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
		refuses(t, d.get("/log?agent="+old.AgentID), http.StatusServiceUnavailable, "HISTORY_BEHIND", "from"),
	} {
		assert.Equal(t, young.BusSeq, e.First, "%+v", e)
		assert.True(t, e.Definite)
	}
	from := fmt.Sprintf("?from=%d", young.BusSeq)
	w, _ := d.watch(t, from)
	w.opened()
	assert.Equal(t, young.BusSeq, w.records(1)[0].BusSeq)
	assert.NotEmpty(t, decode[api.LogPage](t, d.get("/log"+from), http.StatusOK).Records)
	assert.Equal(t, http.StatusOK, d.get("/log/export"+from).status)
	history := decode[api.HistoryPage](t, d.get("/agents/"+young.AgentID+"/history"), http.StatusOK)
	assert.Len(t, history.Transitions, 4)
	agent := decode[api.Agent](t, d.get("/agents/"+old.AgentID), http.StatusOK)
	assert.Equal(t, "TERMINATED", agent.State, "the state is whole")
}
