package httpapi_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
)

// NO-1: the API tells where the node stands and why, and how its components are.
func TestNodeState(t *testing.T) {
	d := newDoor(t)
	state := d.group.Nodes[0].State
	state.Name("backups", false)
	state.OK("backups")
	for range nodestate.DefaultPolicy.DegradedAfter + 4 {
		state.Failed("backups", "disk full")
	}
	got := decode[api.NodeState](t, d.send(http.MethodGet, "/v1/node", ""), http.StatusOK)
	assert.Equal(t, []any{"n1", "Degraded", "component_errors", "component:backups", "open", uint64(1)},
		[]any{got.Node, got.State, got.Trigger, got.By, got.Intake, got.Boot})
	assert.Contains(t, got.Cause, "disk full")
	require.Len(t, got.Components, 1)
	c := got.Components[0]
	assert.Equal(t, []any{"backups", "backoff", "disk full", 7}, []any{c.Name, c.Status, c.LastError, c.RestartCount})
	assert.InDelta(t, 4_000, c.RetryInMillis, 4_000)
	assert.NotZero(t, c.RetryInMillis)
	assert.False(t, c.LastOK.IsZero())

	require.Nil(t, state.Transition(nodestate.Pause, nodestate.Cause{By: "operator", Text: "new disks"}))
	got = decode[api.NodeState](t, d.send(http.MethodGet, "/v1/node", ""), http.StatusOK)
	assert.Equal(t, []any{"Suspended", "closed", "new disks"}, []any{got.State, got.Intake, got.Suspension.Reason})
}

func jsonOf(t *testing.T, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func TestNodeJournal(t *testing.T) {
	d := newDoor(t)
	require.NotNil(t, d.group.Nodes[0].State.Transition(nodestate.Resume, nodestate.Cause{By: "operator", Text: "go"}))
	read := func(query string) (page api.NodeJournal) {
		require.Eventually(t, func() bool { // it is written beside
			page = decode[api.NodeJournal](t, d.send(http.MethodGet, "/v1/node/journal"+query, ""), http.StatusOK)
			return len(page.Entries) > 0 && page.Entries[len(page.Entries)-1].Kind == "refusal"
		}, 10*time.Second, time.Millisecond)
		return page
	}
	page := read("")
	require.Len(t, page.Entries, 4)
	e := page.Entries[3]
	assert.Equal(t, []any{"n1", uint64(4), "Running", "", "resume", "operator", "go", "there is no such transition"},
		[]any{page.Node, e.Seq, e.From, e.To, e.Trigger, e.By, e.Cause, e.Rule})
	assert.Len(t, read("?after=2").Entries, 2)
	assert.Len(t, read("?limit=1").Entries, 1)
	refuses(t, d.send(http.MethodGet, "/v1/node/journal?limit=0", ""), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "limit")
}

// NO-2: orders change the node's lifecycle, say what is refused from then on, and
// are refused by rule, dry runs included.
func TestNodeOrders(t *testing.T) {
	d := newDoor(t)
	state := d.group.Nodes[0].State
	send := func(order, body string) reply { return d.send(http.MethodPost, "/v1/node/"+order, body) }
	got := decode[api.NodeOrdered](t, send("pause", `{"dry_run":true}`), http.StatusOK)
	assert.Equal(t, api.NodeOrdered{Node: "n1", Order: "pause", DryRun: true, State: "Running", Refused: []string{"commands", "batches"}}, got)
	assert.Equal(t, nodestate.Running, state.State())
	e := refuses(t, send("resume", `{"dry_run":true}`), http.StatusConflict, "INVALID_TRANSITION", "")
	assert.Equal(t, []any{"Running", "there is no such transition", true}, []any{e.State, e.Rule, e.Definite})
	assert.NotEmpty(t, e.Hint)

	got = decode[api.NodeOrdered](t, send("pause", `{"reason":"new disks"}`), http.StatusOK)
	assert.Equal(t, "Suspended", got.State)
	assert.Equal(t, "new disks", state.Snapshot().Suspension.Reason)
	refuses(t, send("estop", ""), http.StatusConflict, "INVALID_TRANSITION", "")
	got = decode[api.NodeOrdered](t, send("resume", ""), http.StatusOK)
	assert.Equal(t, []any{"Running", "resume"}, []any{got.State, got.Order})
	assert.Empty(t, got.Refused)
	refuses(t, send("pause", `{"why":"x"}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "why")
}

// An entry that the node has on record is in the answer, field by field.
func TestJournalSaysAllThatIsOnRecord(t *testing.T) {
	var e nodestate.Entry
	v := reflect.ValueOf(&e).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Int:
			f.SetInt(3)
		case reflect.Uint64:
			f.SetUint(4)
		default:
			f.Set(reflect.ValueOf(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)))
		}
	}
	page := httpapi.NodeJournal("n1", nodejournal.Found{Entries: []nodestate.Entry{e}, Damage: []nodejournal.Damage{{File: "f", Offset: 3, What: "w"}}})
	assert.JSONEq(t, jsonOf(t, e), jsonOf(t, page.Entries[0]))
	assert.JSONEq(t, `{"file":"f","offset":3,"what":"w"}`, jsonOf(t, page.Damage[0]))
}
