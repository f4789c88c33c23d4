package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// CL-4: the three levels, on a replica that lags: what it has not reached it
// does not call absent.
func TestReadLevels(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{ReadTimeout: 50 * time.Millisecond})
	leader, follower := &door{t, g, urls[0]}, &door{t, g, urls[1]}
	g.Nodes[1].Hold()
	done := decode[api.Done](t, leader.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)

	path := "/agents/" + agentA
	decode[api.Agent](t, leader.get(path), http.StatusOK)
	for _, query := range []string{
		"", "?consistency=linearizable", fmt.Sprintf("?consistency=session&min_index=%d", done.Index),
		fmt.Sprintf("?consistency=stale&min_index=%d", done.Index), "?consistency=stale&max_lag_ms=1000",
	} {
		e := refuses(t, follower.get(path+query), http.StatusServiceUnavailable, "NOT_CAUGHT_UP", "")
		assert.True(t, e.Definite)
		assert.Equal(t, uint64(1), e.Index, "what the node has applied")
	}
	e := refuses(t, follower.get(path+"?consistency=stale"), http.StatusNotFound, "NOT_FOUND", "agent")
	assert.Equal(t, uint64(1), e.Index, "as of when")

	released := make(chan struct{})
	go func() {
		defer close(released)
		g.Nodes[1].Release()
	}()
	<-released
	for _, query := range []string{"", "?consistency=session&min_index=2", "?consistency=stale&max_lag_ms=1000"} {
		agent := decode[api.Agent](t, follower.get(path+query), http.StatusOK)
		assert.Equal(t, done.Index, agent.Index)
		assert.Equal(t, "n2", agent.Node)
	}
}

// CL-2: a command that a node could not even look up was not judged, so its refusal
// has no index: a client asks again, elsewhere.
func TestCommandsThatNeedARead(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{ReadTimeout: 30 * time.Millisecond})
	leader, follower := &door{t, g, urls[0]}, &door{t, g, urls[1]}
	g.Nodes[1].Hold()
	decode[api.Done](t, leader.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)

	e := refuses(t, follower.post("/tokens/"+agentA+"/revoke", `{}`), http.StatusServiceUnavailable, "NOT_CAUGHT_UP", "")
	assert.Zero(t, e.Index)
	assert.False(t, e.Recorded())
	batch := `{"commands":[{"op":"revoke_token","body":{"agent":"` + agentA + `"}}]}`
	each := decode[api.BatchDone](t, follower.post("/batch", batch), http.StatusOK).Results
	require.Equal(t, "NOT_CAUGHT_UP", each[0].Error.Code)
	assert.Zero(t, each[0].Error.Index)
	e = refuses(t, leader.post("/agents/"+agentB+"/fork", `{"at":1}`), http.StatusNotFound, "NOT_FOUND", "agent")
	assert.Zero(t, e.Index)
}

// Every read that the document has takes the levels: on a replica that lags none
// of them calls absent what it has not reached.
func TestEveryReadTakesTheLevels(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{ReadTimeout: 30 * time.Millisecond})
	leader, follower := &door{t, g, urls[0]}, &door{t, g, urls[1]}
	paths := map[string]string{
		"agents": "", "agents/{id}": "", "agents/{id}/history": "", "agents/{id}/faults": "", "agents/{id}/tree": "",
		"agents/{id}/permission": "action=tool.call&resource=echo", "agents/{id}/memory": "", "agents/{id}/memory/value": "key=a",
		"shared/{namespace}": "", "shared/{namespace}/value": "key=a", "tokens": "", "tokens/{token}": "",
		"tools": "", "tools/{name}": "", "tasks": "", "tasks/{task}": "", "runs": "", "escalations": "", "escalations/{escalation}": "", "audit": "", "log": "", "log/segments": "",
	}
	for path, methods := range leader.document().Paths {
		short, ok := strings.CutPrefix(path, "/v1/kernels/{kernel}/")
		if short == "log/export" || short == "log/proof" || short == "backup" || short == "agents/{id}/export" || strings.HasPrefix(short, "runs/{id}") || strings.HasPrefix(short, "auth/") {
			continue // streams; a document that stands for itself; what is there in TestRunThroughTheDoor and after it
		}
		if op, reads := methods["get"]; ok && reads && slices.Contains(op.Parameters, parameter{Name: "consistency", In: "query"}) {
			assert.Contains(t, paths, short)
		}
	}
	g.Nodes[1].Hold()
	started := decode[api.Done](t, leader.post("/agents/start", `{"agent":{"id":"`+agentA+`","program":{"kind":"SEQ","payload":{"steps":[
		{"kind":"WRITE","payload":{"key":"a","value":1}},{"kind":"CALL","payload":{"tool":"echo"}}]}},"grants":[
		{"effect":"ALLOW","action":"memory.*","resource":"**"},{"effect":"ESCALATE","action":"tool.call","resource":"echo"}]}}`), http.StatusCreated)
	put := decode[api.Done](t, leader.post("/shared/team/put", `{"key":"a","value":1}`), http.StatusOK)
	require.Greater(t, put.Index, started.Index)
	leader.registerAsk("true")
	task := leader.ask(agentB, "")
	put = decode[api.Done](t, leader.post("/tools", `{"name":"crm.get","adapter":"http"}`), http.StatusOK)
	open := decode[api.EscalationPage](t, leader.get("/escalations"), http.StatusOK).Escalations[0].Escalation
	fill := func(path string) string {
		return "/" + strings.NewReplacer("{id}", agentA, "{token}", agentA, "{namespace}", "team", "{name}", "crm.get", "{task}", task, "{escalation}", fmt.Sprint(open)).Replace(path)
	}
	for path, query := range paths {
		at := fmt.Sprintf("%s?%s&min_index=%d", fill(path), query, put.Index)
		for _, level := range []string{"", "&consistency=session", "&consistency=stale"} {
			refuses(t, follower.get(at+level), http.StatusServiceUnavailable, "NOT_CAUGHT_UP", "")
		}
	}
	g.Nodes[1].Release()
	for path, query := range paths {
		at := fmt.Sprintf("%s?%s&min_index=%d", fill(path), query, put.Index)
		for _, level := range []string{"", "&consistency=session", "&consistency=stale"} {
			r := follower.get(at + level)
			require.Equal(t, http.StatusOK, r.status, "%s: %s", path, r.body)
			assert.Contains(t, string(r.body), `"node":"n2"`)
		}
	}
}

// A read that waits is served as soon as the index is there.
func TestSessionReadWaits(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	leader, follower := &door{t, g, urls[0]}, &door{t, g, urls[1]}
	g.Nodes[1].Hold()
	done := decode[api.Done](t, leader.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)
	answered := make(chan reply)
	go func() {
		answered <- follower.get(fmt.Sprintf("/agents/%s?consistency=session&min_index=%d", agentA, done.Index))
	}()
	select {
	case r := <-answered:
		t.Fatalf("the read did not wait: %s", r.body)
	case <-time.After(30 * time.Millisecond): // long enough to have answered, were it not to wait
	}
	g.Nodes[1].Release()
	decode[api.Agent](t, <-answered, http.StatusOK)
}

// A command whose token cannot be looked up has been judged by nobody: the answer
// names no index, so a client asks again.
func TestTokenThatCannotBeLookedUp(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{ReadTimeout: 30 * time.Millisecond})
	leader, follower := &door{t, g, urls[0]}, &door{t, g, urls[1]}
	g.Nodes[1].Hold()
	decode[api.Done](t, leader.post("/agents", `{"id":"`+agentA+`"}`), http.StatusCreated)
	e := refuses(t, follower.post("/tokens/"+agentB+"/revoke", `{}`), http.StatusServiceUnavailable, "NOT_CAUGHT_UP", "")
	assert.Zero(t, e.Index)
	assert.False(t, e.Recorded())
}

// Pages join to the whole, in order of the ids, each agent once; filters hold
// on every page.
func TestPagesOfAgents(t *testing.T) {
	d := newDoor(t)
	var want []string
	for i := range 25 {
		id := fmt.Sprintf("018f4e5c-0000-7000-8000-%012x", 1000-i)
		labels := `{"parity":"even"}`
		if i%2 == 1 {
			labels = `{"parity":"odd","third":"` + fmt.Sprint(i%3) + `"}`
		}
		decode[api.Done](t, d.post("/agents", `{"id":"`+id+`","labels":`+labels+`}`), http.StatusCreated)
		want = append([]string{id}, want...)
	}
	all := func(query string) (ids []string) {
		after := ""
		for pages := 0; ; pages++ {
			require.Less(t, pages, 30)
			page := decode[api.AgentPage](t, d.get("/agents?limit=4"+query+after), http.StatusOK)
			assert.LessOrEqual(t, len(page.Agents), 4)
			for _, a := range page.Agents {
				ids = append(ids, a.AgentID)
			}
			if page.Next == "" {
				return ids
			}
			after = "&after=" + page.Next
		}
	}
	assert.Equal(t, want, all(""))
	assert.Equal(t, want, all("&state=DEFINED"))
	assert.Empty(t, all("&state=ACTIVE"))
	assert.Len(t, all("&label=parity=odd"), 12)
	assert.Len(t, all("&label=parity=odd&label=third=0"), 4)
	assert.Empty(t, all("&label=parity=prime"))
}

// LC-8: history is all of the transitions, though the state keeps four; pages
// of it join without gap or repetition.
func TestPagesOfHistory(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{"id":"`+agentA+`","mode":"service","program":`+literal+`}`), http.StatusCreated)
	for _, trigger := range []string{"spawn", "activate", "suspend", "resume", "suspend", "resume", "suspend", "expire"} {
		decode[api.Done](t, d.post("/agents/"+agentA+"/triggers/"+trigger, `{"reason":"because of `+trigger+`"}`), http.StatusOK)
	}
	whole := decode[api.HistoryPage](t, d.get("/agents/"+agentA+"/history"), http.StatusOK)
	require.Len(t, whole.Transitions, 8)
	assert.Zero(t, whole.Next)
	state := "DEFINED"
	for i, row := range whole.Transitions {
		assert.Equal(t, state, row.From, "%d", i)
		assert.Equal(t, "because of "+row.Trigger, row.Reason)
		state = row.To
	}
	assert.Equal(t, "TERMINATED", state)

	var joined []api.Transition
	for from := uint64(1); from != 0; {
		page := decode[api.HistoryPage](t, d.get(fmt.Sprintf("/agents/%s/history?limit=3&from=%d", agentA, from)), http.StatusOK)
		joined = append(joined, page.Transitions...)
		from = page.Next
	}
	assert.Equal(t, whole.Transitions, joined)
	agent := decode[api.Agent](t, d.get("/agents/"+agentA), http.StatusOK)
	require.Len(t, agent.Transitions, 4)
	assert.Equal(t, uint32(8), agent.Count)
	assert.Equal(t, whole.Transitions[7].BusSeq, agent.Transitions[3].BusSeq)
}

// The log's pages join to the log: every busSeq once, in order; a poller that
// goes on from next sees what comes later.
func TestPagesOfTheLog(t *testing.T) {
	d := newDoor(t)
	for range 5 {
		d.start(literal)
	}
	next := uint64(1)
	var seen []api.Record
	read := func(query string) {
		for {
			page := decode[api.LogPage](t, d.get(fmt.Sprintf("/log?limit=7&from=%d%s", next, query)), http.StatusOK)
			seen = append(seen, page.Records...)
			next = page.Next
			if len(page.Records) < 7 {
				return
			}
		}
	}
	read("")
	late := d.start(literal)
	read("&consistency=session&min_index=" + fmt.Sprint(late.Index))
	for i, r := range seen {
		require.Equal(t, uint64(i+1), r.BusSeq)
	}
	assert.Equal(t, next, uint64(len(seen)+1))
	assert.Equal(t, late.Index, seen[len(seen)-1].Index)

	beyond := decode[api.LogPage](t, d.get("/log?from=100000"), http.StatusOK)
	assert.Empty(t, beyond.Records)
	assert.Equal(t, uint64(100000), beyond.Next)

	mine := decode[api.LogPage](t, d.get("/log?limit=1000&agent="+late.AgentID), http.StatusOK)
	require.NotEmpty(t, mine.Records)
	var want []uint64
	for _, r := range seen {
		if r.AgentID == late.AgentID {
			want = append(want, r.BusSeq)
		}
	}
	var got []uint64
	for _, r := range mine.Records {
		got = append(got, r.BusSeq)
	}
	assert.Equal(t, want, got)
	refuses(t, d.get("/log?agent="+agentB), http.StatusNotFound, "NOT_FOUND", "agent")
}
