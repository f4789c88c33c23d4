package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

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
