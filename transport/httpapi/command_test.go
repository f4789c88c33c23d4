package httpapi_test

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

func (d *door) session() string {
	d.t.Helper()
	minted := decode[api.Session](d.t, d.post("/sessions", ""), http.StatusCreated)
	raw, err := hex.DecodeString(minted.Session)
	require.NoError(d.t, err)
	require.Len(d.t, raw, 16)
	return minted.Session
}

func numbered(session string, seq, floor int) []string {
	return []string{
		api.HeaderSession, session, api.HeaderSequence, fmt.Sprint(seq), api.HeaderFloor, fmt.Sprint(floor),
	}
}

// CL-3: a retry gets the first outcome, another body is refused, and what was
// acknowledged is forgotten.
func TestCommandInSessionIsAppliedOnce(t *testing.T) {
	d := newDoor(t)
	before := d.group.Index()
	session := d.session()
	assert.Equal(t, before, d.group.Index(), "a session costs no log entry")

	first := decode[api.Done](t, d.post("/agents", `{"name":"a"}`, numbered(session, 1, 1)...), http.StatusCreated)
	again := decode[api.Done](t, d.post("/agents", `{"name":"a"}`, numbered(session, 1, 1)...), http.StatusCreated)
	assert.False(t, first.Repeated)
	assert.True(t, again.Repeated)
	again.Repeated = false
	assert.Equal(t, first, again)

	reused := refuses(t, d.post("/agents", `{"name":"b"}`, numbered(session, 1, 1)...), 409, "SEQUENCE_REUSED", "session.seq")
	assert.True(t, reused.Definite)
	decode[api.Done](t, d.post("/agents", `{"name":"b"}`, numbered(session, 2, 2)...), http.StatusCreated)
	refuses(t, d.post("/agents", `{"name":"a"}`, numbered(session, 1, 1)...), 409, "ALREADY_ACKNOWLEDGED", "session.seq")
	refuses(t, d.post("/agents", `{}`, numbered(session, 258, 2)...), 409, "SEQUENCE_OUT_OF_WINDOW", "session.seq")
	page := decode[api.AgentPage](t, d.get("/agents"), http.StatusOK)
	assert.Len(t, page.Agents, 2)
}

// CL-3: a refusal is an outcome too.
func TestRefusalIsRepeated(t *testing.T) {
	d := newDoor(t)
	session := d.session()
	body := `{"agent":{"labels":{"team":"red"}}}`
	first := refuses(t, d.post("/agents/start", body, numbered(session, 1, 1)...), 409, "NO_INSTRUCTION", "agent.program")
	again := refuses(t, d.post("/agents/start", body, numbered(session, 1, 1)...), 409, "NO_INSTRUCTION", "agent.program")
	assert.Equal(t, first, again)
	assert.Less(t, first.Index, d.group.Index(), "the second answer is the first one's")
}

// A submitted program is compiled at the door, with the agent's evaluator.
func TestSubmittedProgramIsCheckedAtTheDoor(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)
	before := d.group.Index()
	refuses(t, d.post("/agents/"+agentA+"/instructions", `{"program":{"kind":"JUMP"}}`), 422, "INVALID_PROGRAM", "program.kind")
	assert.Equal(t, before, d.group.Index())
}

func TestExpiredSession(t *testing.T) {
	d := newDoor(t)
	old := strings.Repeat("01", 16) // minted in 1970
	e := refuses(t, d.post("/agents", `{}`, numbered(old, 1, 1)...), http.StatusGone, "SESSION_EXPIRED", "session.id")
	assert.True(t, e.Definite)
}

func TestIdempotencyKey(t *testing.T) {
	d := newDoor(t)
	first := decode[api.Done](t, d.post("/agents", `{}`, api.HeaderKey, "order 66"), http.StatusCreated)
	again := decode[api.Done](t, d.post("/agents", `{}`, api.HeaderKey, "order 66"), http.StatusCreated)
	assert.True(t, again.Repeated)
	assert.Equal(t, first.AgentID, again.AgentID)
	refuses(t, d.post("/agents", `{"name":"x"}`, api.HeaderKey, "order 66"), 409, "SEQUENCE_REUSED", "session.seq")
	other := decode[api.Done](t, d.post("/agents", `{}`, api.HeaderKey, "order 67"), http.StatusCreated)
	assert.NotEqual(t, first.AgentID, other.AgentID)
}

// null is the same as leaving a field out.
func TestNullIsAbsent(t *testing.T) {
	d := newDoor(t)
	done := decode[api.Done](t, d.post("/agents", `{"id":null,"name":null,"labels":null,"grants":null,"program":null}`), http.StatusCreated)
	agent := decode[api.Agent](t, d.get("/agents/"+done.AgentID), http.StatusOK)
	assert.Equal(t, "task", agent.Mode)
	assert.Equal(t, "std/1", agent.Evaluator)
}

func TestContentTypeWithCharset(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{}`, "Content-Type", "application/json; charset=UTF-8"), http.StatusCreated)
}

// A batch's commands are proposed in order, each with its own outcome; one that
// the door refuses does not keep the others.
func TestBatch(t *testing.T) {
	d := newDoor(t)
	session := d.session()
	body := `{"commands":[
		{"op":"define","sequence":1,"body":{"id":"` + agentA + `","mode":"service","program":` + literal + `}},
		{"op":"trigger","sequence":2,"body":{"agent":"` + agentA + `","trigger":"spawn"}},
		{"op":"define","sequence":3,"body":{"mode":"eternal"}},
		{"op":"submit","sequence":4,"body":{"agent":"` + agentA + `","input":1}},
		{"op":"trigger","sequence":5,"body":{"agent":"` + agentA + `","trigger":"activate"}},
		{"op":"start","sequence":6,"body":{"agent":{"program":` + literal + `}}},
		{"op":"kill","sequence":7,"body":{"agent":"` + agentA + `"}},
		{"op":"kill","sequence":8,"body":{"agent":"` + agentA + `"}}]}`
	headers := []string{api.HeaderSession, session, api.HeaderFloor, "1"}
	before := d.group.Index()
	first := decode[api.BatchDone](t, d.post("/batch", body, headers...), http.StatusOK)
	require.Len(t, first.Results, 8)
	states := []string{"DEFINED", "SPAWNED", "", "SPAWNED", "ACTIVE", "ACTIVE", "TERMINATED", ""}
	for i, state := range states {
		r := first.Results[i]
		if state == "" {
			require.Nil(t, r.Done)
			assert.True(t, r.Error.Definite)
			continue
		}
		require.NotNil(t, r.Done, "%d: %+v", i, r.Error)
		assert.Equal(t, state, r.Done.State, "%d", i)
	}
	assert.Equal(t, "INVALID_ARGUMENT", first.Results[2].Error.Code)
	assert.Equal(t, "mode", first.Results[2].Error.Field)
	assert.Zero(t, first.Results[2].Error.Index)
	assert.Equal(t, "INVALID_TRANSITION", first.Results[7].Error.Code)
	assert.Equal(t, before+7, d.group.Index(), "each is an entry of its own, but the one that the door refused")

	again := decode[api.BatchDone](t, d.post("/batch", body, headers...), http.StatusOK)
	for i, r := range again.Results {
		if r.Done != nil {
			assert.True(t, r.Done.Repeated, "%d", i)
			assert.Equal(t, first.Results[i].Done.BusSeq, r.Done.BusSeq)
		}
	}
}

// A node that proposes none of a batch says so as for one command, so that a
// client goes elsewhere; when some were proposed, each has its own answer.
func TestBatchWithoutLeader(t *testing.T) {
	d := newDoor(t)
	d.group.Lead(-1)
	body := `{"commands":[{"op":"define","body":{}},{"op":"define","body":{}}]}`
	e := refuses(t, d.post("/batch", body), http.StatusServiceUnavailable, "NO_LEADER", "")
	assert.True(t, e.Definite)

	d.group.Lead(0)
	proposed := 0
	d.group.Nodes[0].Answer = func(event.Event) *cluster.Answer {
		if proposed++; proposed == 1 {
			return nil
		}
		return &cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost, Detail: "lost"}
	}
	done := decode[api.BatchDone](t, d.post("/batch", body), http.StatusOK)
	assert.NotNil(t, done.Results[0].Done)
	assert.Equal(t, "LEADERSHIP_LOST", done.Results[1].Error.Code)
	assert.False(t, done.Results[1].Error.Definite)
}

// CL-1, CL-2: what the node says of a command that no kernel answered.
func TestUnansweredCommands(t *testing.T) {
	d := newDoor(t)
	leader := cluster.Peer{ID: "n9", API: "http://n9:7700"}
	for _, c := range []struct {
		answer   cluster.Answer
		status   int
		definite bool
	}{
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNotLeader, Leader: leader}, 421, true},
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNotLeader}, 421, true},
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNoLeader}, 503, true},
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeQueueFull}, 429, true},
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeTooLarge}, 413, true},
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeIntakeClosed}, 503, true},
		{cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeTimeout}, 503, true},
		{cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeTimeout}, 504, false},
		{cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeLeadershipLost}, 504, false},
		{cluster.Answer{Verdict: cluster.Unknown, Code: cluster.CodeShutdown, Detail: "stopping"}, 504, false},
	} {
		d.group.Nodes[0].Answer = func(event.Event) *cluster.Answer { return &c.answer }
		r := d.post("/agents", `{}`)
		e := refuses(t, r, c.status, c.answer.Code, "")
		assert.Equal(t, c.definite, e.Definite, c.answer.Code)
		assert.False(t, e.Recorded())
		if c.answer.Leader.ID != "" {
			assert.Equal(t, &api.Leader{ID: "n9", API: "http://n9:7700"}, e.Leader)
		} else {
			assert.Nil(t, e.Leader)
		}
		if c.status == 503 || c.status == 429 {
			assert.NotEmpty(t, r.header.Get("Retry-After"))
		}
	}
}

// The door's check of a program is remembered; what does not compile is not.
func TestProgramsAreCheckedAgainAndAgain(t *testing.T) {
	d := newDoor(t)
	for range 3 {
		d.start(literal)
		refuses(t, d.post("/agents/start", `{"agent":{"program":{"kind":"JUMP"}}}`), 422, "INVALID_PROGRAM", "agent.program.kind")
	}
}

func TestTransfer(t *testing.T) {
	d := newDoor(t)
	done := decode[api.Transferred](t, d.send(http.MethodPost, "/v1/cluster/transfer", `{"to":"n1"}`), http.StatusOK)
	assert.Equal(t, "n1", done.Leader, "it leads already")
	e := refuses(t, d.send(http.MethodPost, "/v1/cluster/transfer", `{"to":"n7"}`), 422, "INVALID_ARGUMENT", "to")
	assert.Contains(t, e.Hint, "n1")
	refuses(t, d.send(http.MethodPost, "/v1/cluster/transfer", `{"too":"n7"}`), 422, "INVALID_ARGUMENT", "too")
}

func TestHealth(t *testing.T) {
	d := newDoor(t)
	require.Nil(t, d.group.Nodes[0].State.Transition(nodestate.Pause, nodestate.Cause{By: "operator", Text: "new disks"}))
	for _, path := range []string{"/healthz", "/readyz"} {
		h := decode[api.Health](t, d.send(http.MethodGet, path, ""), 200)
		assert.Equal(t, api.Health{Status: "ok", Node: "n1", State: "Suspended", Cause: "new disks"}, h, "where it stands is another matter")
	}
	d.group.Lead(-1)
	assert.Equal(t, "not_ready", decode[api.Health](t, d.send(http.MethodGet, "/readyz", ""), 503).Status)
	why := "the disk is full"
	d.group.Nodes[0].Unhealthy.Store(&why)
	h := decode[api.Health](t, d.send(http.MethodGet, "/healthz", ""), 503)
	assert.Equal(t, []any{"unhealthy", "Suspended", "new disks"}, []any{h.Status, h.State, h.Cause})
	assert.Contains(t, h.Reason, why)
}
