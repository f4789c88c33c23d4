package backtest

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Test judges one log. It is used by one goroutine.
type Test struct {
	of      Case
	instead authority.Instead
	holders *authority.Tables
	agents  map[uint32]*agent
	calls   map[tools.Key]string // resource of each call in the outbox
	waiting uint64               // requests that wait for a decision
	most    uint64               // … and how many may; 0 while there is no configuration
	report  Report

	index uint64 // of the block that is being read
	now   int64
	hand  *event.Dispatched // of a TOOL_DISPATCHED event
}

// agent is where an agent's tick stands.
type agent struct {
	run      uint32
	approved uint64 // index of the event in which somebody said yes
	denied   uint64 // index of the event in which a child would have been denied

	asked        bool   // a request of its was judged
	changed      bool   // some request of its would be answered otherwise
	changedTick  uint64 // the tick of the newest change
	changedRun   uint32
	changedIndex uint64
}

// New begins before the first block of a log.
func New(of Case) *Test {
	return &Test{
		of: of, instead: of.instead(), holders: authority.New(),
		agents: make(map[uint32]*agent), calls: make(map[tools.Key]string),
	}
}

// Done reports whether nothing that follows is asked about.
func (t *Test) Done() bool {
	return t.of.To != 0 && t.report.Records >= t.of.To
}

// Judged and Changed are its counts so far, for whoever shows how far it is.
func (t *Test) Judged() uint64 { return t.report.Judged }

// Changed is how many requests would have been answered otherwise.
func (t *Test) Changed() uint64 { return t.report.Changed }

// Report is what it has come to so far.
func (t *Test) Report() Report {
	report := t.report
	report.Changes = slices.Clip(report.Changes)
	return report
}

// Block takes the next block.
func (t *Test) Block(b *logging.Block) {
	t.report.Blocks++
	t.index, t.now, t.hand = b.Index, b.ClockMillis, nil
	for records := b.Records(); records.Next(); {
		t.report.Records++
		t.record(&records.Record)
	}
}

// record takes one record. What does not decode is passed over: whether the log
// is right is not asked here.
func (t *Test) record(r *logging.Record) {
	kind := bus.Kind(r.Kind)
	if body, wanted := authority.Decode(kind, r.Body); wanted {
		if body != nil {
			t.held(r, kind, body)
		}
		return
	}
	switch kind {
	case bus.Event:
		if e, ok := event.DecodeRecorded(r.Body); ok && e.Event.Kind == event.ToolDispatched {
			t.hand, _ = event.DecodeBody[event.Dispatched](e.Event.Body)
		}
	case bus.KernelBooted:
		if c, ok := event.DecodeBody[config.Config](r.Body); ok {
			t.most = uint64(c.MaxEscalations)
		}
	case bus.TickStarted:
		if b, ok := execution.DecodeStarted(r.Body); ok {
			if a := t.agents[r.Agent]; a != nil {
				a.run, a.approved, a.denied = b.Run, 0, 0
			}
		}
	case bus.CallRequested:
		if b, ok := tools.DecodeRequested(r.Body); ok {
			t.calls[tools.Key{Agent: r.Agent, Tick: r.Tick, Call: b.Call}] = b.Resource
		}
	case bus.ActionExecuted, bus.ActionFailed:
		if b, ok := tools.DecodeAction(r.Body); ok {
			delete(t.calls, tools.Key{Agent: r.Agent, Tick: r.Tick, Call: b.Call})
		}
	default:
		t.decision(r, kind)
	}
}

// held takes what says who holds what.
func (t *Test) held(r *logging.Record, kind bus.Kind, body bus.Body) {
	if b, ok := body.(*delegation.TokenIssued); ok {
		t.delegated(r, b)
	}
	t.holders.Take(r.Seq, &bus.Record{Kind: kind, Agent: r.Agent, Tick: r.Tick, Body: body})
	switch b := body.(type) {
	case *identity.Defined:
		t.agents[r.Agent] = &agent{}
		if t.of.all() || b.ID == t.of.Agent {
			t.report.Known = true
			t.report.Replaced++
		}
	case *lifecycle.Event:
		if b.To == lifecycle.Terminated {
			delete(t.agents, r.Agent)
		}
	}
}

// decision takes what the gate and whoever decides beside it have said.
func (t *Test) decision(r *logging.Record, kind bus.Kind) {
	switch kind {
	case bus.Allow, bus.Deny:
		if b, ok := permissions.DecodeEvaluation(r.Body); ok {
			was := recorded{outcome: Allow, list: b.Grants, grant: b.Grant, level: b.Level}
			if kind == bus.Deny {
				was.outcome = Deny
			}
			t.judge(r, b.Action, b.Resource, was)
		}
	case bus.Escalated:
		if b, ok := permissions.DecodeEscalated(r.Body); ok {
			t.judge(r, b.Action, b.Resource, recorded{outcome: Escalate, list: b.Grants, grant: b.Grant, level: b.Level})
			t.waiting++
		}
	case bus.EscalationDecided:
		b, ok := permissions.DecodeEscalationDecided(r.Body)
		if a := t.agents[r.Agent]; ok && b.Approved && a != nil {
			a.approved = t.index
		}
		t.waiting -= min(t.waiting, 1)
	case bus.CallDispatched:
		if b, ok := tools.DecodeDispatched(r.Body); ok {
			t.dispatched(r, b.Call)
		}
	}
}
