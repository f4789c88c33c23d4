package traces

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Span gives the id of a span: an agent's life (tick and run 0), one tick of it (run 0),
// or one run of the tick, which is its first entry or one continuation. It is a digest,
// so every node gives the same, and so do the records of the API.
func Span(agent identity.ID, tick uint64, run uint32) []byte {
	var b [4 + 16 + 8 + 4]byte
	copy(b[:], "span")
	copy(b[4:], agent[:])
	binary.BigEndian.PutUint64(b[20:], tick)
	binary.BigEndian.PutUint32(b[28:], run)
	sum := sha256.Sum256(b[:])
	return sum[:8]
}

// SpanAt is the span of a call or a command: that of the record with that busSeq, which
// began it.
func SpanAt(seq uint64) []byte { return binary.BigEndian.AppendUint64(nil, seq) }

// traceOf is the trace of an agent: the UUID of the one at the top of its tree.
func traceOf(s *state.State, agent uint32) []byte {
	row := s.Agents.Get(agent)
	for row.Delegation.Parent != 0 {
		row = s.Agents.Get(row.Delegation.Parent)
	}
	id := row.Identity.ID
	return id[:]
}

// traceAlone is the trace of what concerns no agent.
func (x *Exporter) traceAlone(seq uint64) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("omni trace "+x.o.ClusterID+"/"+x.o.KernelID+"/"), seq))
	return sum[:16]
}

// span is that of a tick, a call or an agent which has ended.
func (x *Exporter) span(s *state.State, e *ended) *tracepb.Span {
	row := s.Agents.Get(e.place.agent)
	span := &tracepb.Span{
		TraceId: traceOf(s, e.place.agent), EndTimeUnixNano: nanos(e.at), Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		Status: statusOf(e.code, e.said), Attributes: []*commonpb.KeyValue{text("omni.agent.id", flows.FormatID(row.Identity.ID))},
	}
	if row.Identity.Name != "" {
		span.Attributes = append(span.Attributes, text("omni.agent.name", row.Identity.Name))
	}
	span.Attributes = append(span.Attributes, number("omni.end.bus_seq", int64(e.seq)))
	if e.kind == bus.Lifecycle {
		return x.agent(s, row, span)
	}
	id := row.Identity.ID
	span.Attributes = append(span.Attributes, number("omni.tick", int64(e.place.tick)))
	switch {
	case e.run != 0:
		span.Name, span.SpanId, span.ParentSpanId = "run", Span(id, e.place.tick, e.run), Span(id, e.place.tick, 0)
		span.StartTimeUnixNano = span.EndTimeUnixNano // it begins and ends in one event
		span.Attributes = append(span.Attributes, number("omni.run", int64(e.run)))
		return span
	case e.place.call == 0:
		began, found := x.find(place{agent: e.place.agent, tick: e.place.tick}, e.here)
		if !found { // it began where this node cannot look: when it ended is all there is to say
			began.at = e.at
		}
		span.Name, span.SpanId, span.ParentSpanId, span.StartTimeUnixNano = "tick", Span(id, e.place.tick, 0), Span(id, 0, 0), nanos(began.at)
		return span
	}
	return x.call(row, e, span)
}

// call completes the span of a call, which is below its tick's.
func (x *Exporter) call(row *state.Row, e *ended, span *tracepb.Span) *tracepb.Span {
	call, asked := x.find(e.place, e.here)
	if !asked { // the kernel's own tools answer at once
		call = beginning{e.seq, e.at}
	} else {
		span.Kind = tracepb.Span_SPAN_KIND_CLIENT
	}
	span.Name = "call " + e.tool
	span.SpanId, span.ParentSpanId, span.StartTimeUnixNano = SpanAt(call.seq), Span(row.Identity.ID, e.place.tick, 0), nanos(call.at)
	span.Attributes = append(span.Attributes, text("omni.tool", e.tool), number("omni.call", int64(e.place.call)), number("omni.call.ms", e.millis))
	if e.usage.Metered {
		span.Attributes = append(span.Attributes, number("omni.usage.tokens", int64(e.usage.Tokens)), number("omni.usage.usd_micros", int64(e.usage.USDMicros)))
	}
	return span
}

// agent completes the span of an agent that is over. A child's is below the tick that
// delegated to it.
func (x *Exporter) agent(s *state.State, row *state.Row, span *tracepb.Span) *tracepb.Span {
	span.Name = "agent"
	span.SpanId, span.StartTimeUnixNano = Span(row.Identity.ID, 0, 0), nanos(row.Identity.DefinedAt)
	if parent := s.Agents.Get(row.Delegation.Parent); parent != nil {
		span.ParentSpanId = Span(parent.Identity.ID, row.Delegation.Tick, 0)
		span.Attributes = append(span.Attributes, number("omni.parent.call", int64(row.Delegation.Call)))
	}
	return span
}

// command is the span of a command: from its leader's stamp to the kernel's clock, which
// is no time at all unless the clocks differ. It is below the agent that it concerns.
func (x *Exporter) command(seq uint64, b *logging.Block, e *event.Event, o *event.Outcome) *tracepb.Span {
	span := &tracepb.Span{
		Name: "command " + e.Kind.String(), TraceId: x.traceAlone(seq), SpanId: SpanAt(seq), Kind: tracepb.Span_SPAN_KIND_SERVER,
		StartTimeUnixNano: nanos(min(e.Wall, b.ClockMillis)), EndTimeUnixNano: nanos(b.ClockMillis),
		Status:     statusOf(string(o.Refusal.Code), o.Refusal.Rule),
		Attributes: []*commonpb.KeyValue{text("omni.principal", e.Principal), number("omni.index", int64(b.Index)), number("omni.term", int64(b.Term))},
	}
	if e.IdempotencyKey != "" {
		span.Attributes = append(span.Attributes, text("omni.idempotency_key", e.IdempotencyKey))
	}
	s := x.o.State()
	if no, row := s.Find(o.Agent); row != nil {
		span.TraceId, span.ParentSpanId = traceOf(s, no), Span(row.Identity.ID, 0, 0)
		span.Attributes = append(span.Attributes, text("omni.agent.id", flows.FormatID(o.Agent)), text("omni.agent.state", lifecycle.State(o.State).String()))
	}
	return span
}

func nanos(millis int64) uint64 { return uint64(max(0, millis)) * uint64(time.Millisecond) }

func statusOf(code, said string) *tracepb.Status {
	if code == "" {
		return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_OK}
	}
	if said != "" {
		code += ": " + said
	}
	return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: code}
}

func text(key, v string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v}}}
}

func number(key string, v int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v}}}
}
