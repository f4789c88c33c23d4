package traces

import (
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Bounds of what is read and sent together.
const (
	maxSpans  = 512
	maxBlocks = 2048
)

// piece is a part of the log, with the spans that end in it.
type piece struct {
	spans []*tracepb.Span
	next  uint64 // busSeq to go on from
	full  bool   // there may be more
}

// ended is a record that ends a tick, a call or an agent; the block that it is in was the
// agent's newest then.
type ended struct {
	place  place
	run    uint32 // of the tick, that ended too; 0 for none
	kind   bus.Kind
	seq    uint64
	at     int64  // kernel clock
	here   uint64 // pointer to the block
	code   string // why it failed; empty when it did not
	said   string // what the failure says
	tool   string
	millis int64 // of a call, as its runner measured
	usage  tools.Usage
}

// read makes spans of the next piece of the log. Everything is read first and looked up
// then, so that the log is not held for long.
func (x *Exporter) read(from uint64) (p piece, err error) {
	var ends []ended
	var commands []*tracepb.Span
	blocks := 0
	p.next, err = x.o.Log.ReadFrom(from, func(position uint64, b *logging.Block) bool {
		var command *event.Recorded
		var outcome *event.Outcome
		first, run := uint64(0), uint32(0)
		for records := b.Records(); records.Next(); {
			r := &records.Record
			note(r, b.ClockMillis, func(at place, began beginning) { x.begun.Add(at, began) })
			switch bus.Kind(r.Kind) {
			case bus.Event:
				command, _ = event.DecodeRecorded(r.Body)
				first = r.Seq
			case bus.Outcome:
				outcome, _ = event.DecodeOutcome(r.Body)
			case bus.TickStarted:
				if b, ok := execution.DecodeStarted(r.Body); ok {
					run = b.Run
				}
			case bus.TickPendingTool, bus.TickPendingDelegation:
				ends = append(ends, ended{place: place{agent: r.Agent, tick: r.Tick}, run: run, kind: bus.Kind(r.Kind), seq: r.Seq, at: b.ClockMillis})
			default:
				if e, over := endOf(r); over {
					e.seq, e.at, e.here = r.Seq, b.ClockMillis, logging.PointerTo(position)
					ends = append(ends, e)
					if e.place.call == 0 && e.kind != bus.Lifecycle && run != 0 {
						e.run, run = run, 0
						ends = append(ends, e)
					}
				}
			}
		}
		if command != nil && command.Event.Kind.IsCommand() && outcome != nil {
			commands = append(commands, x.command(first, b, command.Event, outcome))
		}
		blocks++
		p.full = len(ends)+len(commands) >= maxSpans || blocks >= maxBlocks
		return !p.full
	})
	if err != nil {
		return p, err
	}
	p.spans = commands
	now := x.o.State()
	for i := range ends {
		p.spans = append(p.spans, x.span(now, &ends[i]))
	}
	return p, nil
}

// endOf tells whether a record ends a tick, a call or an agent, and how.
func endOf(r *logging.Record) (e ended, ends bool) {
	e = ended{place: place{agent: r.Agent, tick: r.Tick}, kind: bus.Kind(r.Kind)}
	switch e.kind {
	case bus.TickCompleted:
		return e, true
	case bus.TickFailed:
		b, ok := execution.DecodeFailed(r.Body)
		if ok {
			e.code, e.said = string(b.Failure.Code), b.Failure.Message
		}
		return e, ok
	case bus.TickOverflow:
		e.code = "TICK_OVERFLOW"
		return e, true
	case bus.ActionExecuted, bus.ActionFailed:
		b, ok := tools.DecodeAction(r.Body)
		if ok {
			e.place.call, e.tool, e.code, e.said = b.Call, b.Tool, string(b.Code), b.Message
			e.millis, e.usage = b.Millis, b.Usage
		}
		return e, ok
	case bus.Lifecycle:
		b, ok := lifecycle.DecodeEvent(r.Body)
		if !ok || b.To != lifecycle.Terminated {
			return e, false
		}
		e.place.tick, e.code, e.said = 0, string(b.Code), b.Reason
		return e, true
	}
	return e, false
}
