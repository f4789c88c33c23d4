package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

const benchmarked = `{"agent":{"name":"a","labels":{"team":"red"},"program":` + literal + `},"input":{"n":1},"reason":"because"}`

func serveAgain(b *testing.B, h http.Handler, status int) {
	b.ReportAllocs()
	for range b.N {
		r := httptest.NewRequest(http.MethodPost, kernelPath+"/agents/start", strings.NewReader(benchmarked))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != status {
			b.Fatalf("%d: %s", w.Code, w.Body)
		}
	}
}

// BenchmarkDoor is what this package takes for one command, without a network
// and without a kernel: the request is read, checked and answered.
func BenchmarkDoor(b *testing.B) {
	g := solo.New(b, 1, solo.Setup{})
	done := cluster.Answer{Verdict: cluster.Applied, Outcome: event.Outcome{Agent: [16]byte{1}, State: 2, Index: 7, Seq: 9}}
	g.Nodes[0].Answer = func(event.Event) *cluster.Answer { return &done }
	serveAgain(b, httpapi.New(g.Nodes[0], httpapi.Options{}).Handler(), http.StatusCreated)
}

// BenchmarkDoorByReflection is the same route served by huma itself, which
// still would not have found a repeated key nor compiled the program: why the
// routes are not served so.
func BenchmarkDoorByReflection(b *testing.B) {
	mux := http.NewServeMux()
	a := humago.New(mux, huma.DefaultConfig("x", "0"))
	type input struct {
		Kernel string `path:"kernel"`
		Body   struct {
			Agent struct {
				Name    string            `json:"name,omitempty"`
				Labels  map[string]string `json:"labels,omitempty"`
				Program any               `json:"program,omitempty"`
			} `json:"agent"`
			Input  any    `json:"input,omitempty"`
			Reason string `json:"reason,omitempty"`
		}
	}
	type output struct{ Body api.Done }
	huma.Register(a, huma.Operation{OperationID: "x", Method: http.MethodPost, Path: "/v1/kernels/{kernel}/agents/start", DefaultStatus: http.StatusCreated},
		func(_ context.Context, in *input) (*output, error) {
			return &output{api.Done{AgentID: "018f4e5c-0000-7000-8000-00000000000a", State: "ACTIVE", Index: 7, BusSeq: 9, Node: "n1"}}, nil
		})
	serveAgain(b, mux, http.StatusCreated)
}

// BenchmarkLogPage renders a thousand records.
func BenchmarkLogPage(b *testing.B) {
	g := solo.New(b, 1, solo.Setup{})
	d := &door{b, g, g.Serve(b, httpapi.Options{})[0]}
	for range 100 {
		d.start(literal)
	}
	b.ReportAllocs()
	for b.Loop() {
		if r := d.get("/log?limit=1000&consistency=stale"); r.status != http.StatusOK {
			b.Fatal(string(r.body))
		}
	}
}
