package main

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/omnikernel/omnikernel/transport/api"
)

// collector is a receiver of OTLP over HTTP, as collectors are: it takes what can be read.
type collector struct {
	*httptest.Server
	mu      sync.Mutex               // guards what follows
	spans   map[string]*tracepb.Span // by trace and span
	differs []string                 // ids of spans that came again and were others
	service string
	down    bool
}

func newCollector(t *testing.T) *collector {
	c := &collector{spans: make(map[string]*tracepb.Span)}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	var request collectorpb.ExportTraceServiceRequest
	unpacked, err := gzip.NewReader(r.Body)
	if err == nil {
		var body []byte
		if body, err = io.ReadAll(unpacked); err == nil {
			err = proto.Unmarshal(body, &request)
		}
	}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range request.GetResourceSpans() {
		for _, attribute := range resource.GetResource().GetAttributes() {
			if attribute.GetKey() == "service.name" {
				c.service = attribute.GetValue().GetStringValue()
			}
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				id := hex.EncodeToString(span.GetTraceId()) + "/" + hex.EncodeToString(span.GetSpanId())
				if before := c.spans[id]; before != nil && !proto.Equal(before, span) {
					c.differs = append(c.differs, id)
				}
				c.spans[id] = span
			}
		}
	}
}

func (c *collector) fail(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

// of gives the spans of an agent's trace by their ids.
func (c *collector) of(agent string) map[string]*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := make(map[string]*tracepb.Span)
	for id, span := range c.spans {
		if trace, own, _ := strings.Cut(id, "/"); trace == strings.ReplaceAll(agent, "-", "") {
			found[own] = span
		}
	}
	return found
}

// whole waits until the trace of an agent has what its records say, and holds the two
// against each other.
func (c *collector) whole(t *testing.T, p *processes, agent string) {
	t.Helper()
	var records []api.Record
	require.Eventually(t, func() bool {
		page, err := p.client.Log(t.Context(), api.LogQuery{Agent: agent, Limit: 1000})
		if err != nil {
			return false
		}
		records = page.Records
		return len(records) > 0 && records[len(records)-1].Kind != "" && c.hasAgent(agent)
	}, time.Minute, 50*time.Millisecond, "the agent's span")
	spans := c.of(agent)
	var tick, life string
	seen := make(map[string]bool)
	for _, r := range records {
		switch r.Kind {
		case "TICK_STARTED":
			run := spans[r.SpanID]
			require.NotNil(t, run, "the run of record %d", r.BusSeq)
			assert.Equal(t, []string{"run", r.ParentSpan}, []string{run.GetName(), hex.EncodeToString(run.GetParentSpanId())})
			tick, seen[r.SpanID] = r.ParentSpan, true
		case "CALL_REQUESTED":
			call := spans[hex16(r.BusSeq)]
			require.NotNil(t, call, "the call of record %d", r.BusSeq)
			assert.Equal(t, "call echo", call.GetName())
			assert.Equal(t, tick, hex.EncodeToString(call.GetParentSpanId()))
			assert.Equal(t, uint64(r.AtMillis)*1e6, call.GetStartTimeUnixNano())
			assert.Equal(t, tracepb.Status_STATUS_CODE_OK, call.GetStatus().GetCode())
			seen[hex16(r.BusSeq)] = true
		case "INSTRUCTION_QUEUED":
		}
	}
	require.NotEmpty(t, tick)
	require.NotNil(t, spans[tick], "the tick")
	life = hex.EncodeToString(spans[tick].GetParentSpanId())
	seen[tick], seen[life] = true, true
	require.Equal(t, "agent", spans[life].GetName())
	require.Empty(t, spans[life].GetParentSpanId())
	for id, span := range spans {
		if !seen[id] {
			require.Equal(t, "command AGENT_START", span.GetName(), "nothing else is there")
			require.Equal(t, life, hex.EncodeToString(span.GetParentSpanId()))
		}
	}
	require.Len(t, spans, len(seen)+1, "and the command that started it")
	content, err := json.Marshal(records)
	require.NoError(t, err)
	require.Contains(t, string(content), tick, "omni log has the tick's span")
}

func (c *collector) hasAgent(agent string) bool {
	for _, span := range c.of(agent) {
		if span.GetName() == "agent" {
			return true
		}
	}
	return false
}

func hex16(n uint64) string {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (56 - 8*i))
	}
	return hex.EncodeToString(b[:])
}

// seenTraces: an agent's spans are those that its records name, whoever leads; a
// collector that is away loses none, and one that sees a span again sees the same one.
func seenTraces(t *testing.T, p *processes, c *collector, agent string) {
	c.whole(t, p, agent)
	c.fail(true)
	held := p.traffic()
	p.stop(int(p.alike().Leader[1] - '1'))
	after := p.traffic()
	c.fail(false)
	c.whole(t, p, held)
	c.whole(t, p, after)
	c.mu.Lock()
	defer c.mu.Unlock()
	require.Empty(t, c.differs)
	require.Equal(t, "seen-by-a-test", c.service)
	p.unaudited = true // the leader is down
}
