package traces

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Target is where spans go, and in whose name.
type Target struct {
	URL        string // with its path
	Headers    map[string]string
	Timeout    time.Duration
	Attributes map[string]string // of the resource
	Order      []string          // of the attributes' names
}

// Sender sends spans by OTLP over HTTP, as protobuf. It has no queue and tries once: who
// calls it has the log.
type Sender struct {
	to       Target
	resource *resourcepb.Resource
	client   *http.Client
}

// NewSender makes one.
func NewSender(to Target) (*Sender, error) {
	u, err := url.Parse(to.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("traces: %q must be a URL such as http://127.0.0.1:4318", to.URL)
	}
	s := &Sender{to: to, resource: &resourcepb.Resource{}, client: &http.Client{Timeout: to.Timeout}}
	for _, name := range to.Order {
		s.resource.Attributes = append(s.resource.Attributes, text(name, to.Attributes[name]))
	}
	return s, nil
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// Send sends spans; nil when they were taken. A *RefusedError is for good: what a collector
// calls malformed it will not take the next time either.
func (s *Sender) Send(ctx context.Context, spans []*tracepb.Span) error {
	body, err := proto.Marshal(&collectorpb.ExportTraceServiceRequest{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource:   s.resource,
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "omnikernel"}, Spans: spans}},
	}}})
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err = z.Write(body); err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.to.URL, &packed)
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	//lint:ordered a header is a map itself
	for name, value := range s.to.Headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "gzip")
	response, err := s.client.Do(request)
	if err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case response.StatusCode/100 == 2:
		return nil
	case response.StatusCode == http.StatusBadRequest:
		return &RefusedError{Spans: len(spans), Said: strings.ToValidUTF8(string(answer[:min(len(answer), 200)]), "?")}
	}
	return fmt.Errorf("traces: %s answered %s", s.to.URL, response.Status)
}

// RefusedError says that a collector will not take some spans.
type RefusedError struct {
	Spans int
	Said  string
}

// Error tells what it said.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("traces: the collector refuses %d spans: %s", e.Spans, e.Said)
}
