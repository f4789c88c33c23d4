package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// FuzzBodies: whatever arrives as a body is taken or refused; what is taken is
// an event that the kernel can decode.
func FuzzBodies(f *testing.F) {
	for _, body := range []string{
		`{"agent":{"program":` + literal + `},"input":{"n":1}}`, `{"id":"` + agentA + `","labels":{"a":"b"},"env":{},"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo"}]}`,
		`{"commands":[{"op":"kill","body":{"agent":"` + agentA + `"}},{"op":"submit","body":{"agent":"` + agentA + `","program":` + echo + `}}]}`,
		`{"reason":"r","input":null}`, `{"program":{"kind":"JUMP"}}`, "{\"a\":\"\xff\"}", `[`, `{}{}`, `{"a":1e999}`,
	} {
		f.Add(body)
	}
	g := solo.New(f, 1, solo.Setup{})
	g.Nodes[0].Answer = func(e event.Event) *cluster.Answer {
		ok := false
		switch e.Kind {
		case event.AgentDefine:
			_, ok = event.DecodeBody[event.Define](e.Body)
		case event.AgentStart:
			_, ok = event.DecodeBody[event.Start](e.Body)
		case event.AgentTrigger:
			_, ok = event.DecodeBody[event.Trigger](e.Body)
		case event.AgentKill:
			_, ok = event.DecodeBody[event.Kill](e.Body)
		case event.AgentSubmit:
			_, ok = event.DecodeBody[event.Submit](e.Body)
		}
		if !ok {
			panic("an event that would stop every node: " + e.Kind.String())
		}
		return &cluster.Answer{Verdict: cluster.Applied}
	}
	handler := httpapi.New(g.Nodes[0], httpapi.Options{}).Handler()
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{
			"/agents", "/agents/start", "/agents/" + agentA + "/kill", "/agents/" + agentA + "/triggers/spawn",
			"/agents/" + agentA + "/instructions", "/batch",
		} {
			r := httptest.NewRequest(http.MethodPost, kernelPath+path, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			switch w.Code {
			case http.StatusOK, http.StatusCreated, http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge:
			default:
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}
