package agentcheck

import (
	"bytes"
	"errors"
	"slices"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// trace is what the log of a dry run says.
type trace struct {
	root  uint32 // number of the agent that is checked
	names map[uint32]string
	calls []*made

	ticks    int
	steps    uint64
	emitted  []value.Raw
	denied   []permissions.Evaluation
	retrying bool // the root's fault will be recovered
	failure  *Failure
	line     uint32
	column   uint32
	stopped  string
}

// made is a call, as the log names it.
type made struct {
	Call
	agent    uint32
	tick     uint64
	call     uint32
	answered bool
}

func newTrace() *trace { return &trace{names: make(map[uint32]string)} }

var errRecord = errors.New("a record of the kernel's log does not decode")

// take reads a block.
func (t *trace) take(raw []byte) error {
	block, err := logging.Decode(raw)
	if err != nil {
		return err
	}
	for records := block.Records(); records.Next(); {
		r := records.Record
		content, ok := kernel.DecodeRecordBody(bus.Kind(r.Kind), bytes.Clone(r.Body))
		if !ok {
			return errRecord
		}
		t.record(bus.Kind(r.Kind), &r, content)
	}
	return nil
}

func (t *trace) record(kind bus.Kind, r *logging.Record, content bus.Body) {
	switch b := content.(type) {
	case *identity.Defined:
		t.names[r.Agent] = b.Name
		if t.root == 0 {
			t.root = r.Agent
		}
	case *execution.PendingBody:
		for i, asked := range b.Requests {
			t.calls = append(t.calls, &made{
				Call:  Call{Agent: t.child(r.Agent), Tool: asked.Tool, Args: asked.Args, By: byKernel},
				agent: r.Agent, tick: r.Tick, call: b.First + uint32(i),
			})
		}
	case *execution.DeliveredBody:
		if c := t.find(r.Agent, r.Tick, b.Answer.Call); c != nil {
			c.OK, c.Value, c.Code, c.Message, c.answered = b.Answer.OK, b.Answer.Value, string(b.Answer.Code), b.Answer.Message, true
		}
	case *permissions.Evaluation:
		if kind == bus.Deny {
			t.denied = append(t.denied, *b)
		}
	case execution.StepBody:
		t.steps++
	case *execution.EmittedBody:
		t.emitted = append(t.emitted, b.Value)
	case *execution.CompletedBody:
		t.ended(r, nil)
	case *execution.FailedBody:
		t.ended(r, &b.Failure)
	case *execution.OverflowBody:
		t.ended(r, &failure.Failure{Code: failure.TickOverflow, Message: "the tick took more steps than max_steps_per_tick allows"})
	case *lifecycle.Event:
		if r.Agent == t.root {
			t.retrying = false
		}
	}
	if kind == bus.RetryScheduled && r.Agent == t.root {
		t.retrying = true
	}
}

// ended notes the end of a tick, and how the root's failed.
func (t *trace) ended(r *logging.Record, f *failure.Failure) {
	t.ticks++
	if r.Agent != t.root {
		return
	}
	t.failure, t.line, t.column = nil, 0, 0
	if f != nil {
		t.failure = &Failure{Code: string(f.Code), Class: f.Class().String(), Message: f.Message}
		t.line, t.column = f.Line, f.Column
	}
}

// child names an agent that is not the one that is checked.
func (t *trace) child(agent uint32) string {
	if agent == t.root {
		return ""
	}
	if name := t.names[agent]; name != "" {
		return name
	}
	return "a child"
}

func (t *trace) find(agent uint32, tick uint64, call uint32) *made {
	for _, c := range slices.Backward(t.calls) {
		if c.agent == agent && c.tick == tick && c.call == call {
			return c
		}
	}
	return nil
}

// listens reports whether the agent waits for a message for as long as it takes.
func (t *trace) listens() bool {
	for _, c := range slices.Backward(t.calls) {
		if c.agent != t.root || c.answered {
			continue
		}
		_, limited := c.Args.Get("timeout_ms")
		return c.Tool == "mailbox.receive" && !limited
	}
	return false
}

func (t *trace) approved(agent uint32, tick uint64, call uint32) {
	if c := t.find(agent, tick, call); c != nil {
		c.Escalated = true
	}
}

func (t *trace) by(agent uint32, tick uint64, call uint32, who string) {
	if c := t.find(agent, tick, call); c != nil {
		c.By = who
	}
}

// told are the calls for a report.
func (t *trace) told() []Call {
	calls := make([]Call, 0, len(t.calls))
	for _, c := range t.calls {
		if !c.answered {
			c.Code, c.By = "UNANSWERED", ""
		}
		calls = append(calls, c.Call)
	}
	return calls
}
