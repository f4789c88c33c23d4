package agentcheck

import (
	"context"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/echo"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Bounds of a dry run, beside the context's.
const (
	maxTicks  = 200    // that end: what always begins again is seen after that
	maxEvents = 20_000 // of the log
	maxCalls  = 2_000  // that are told of
)

// began is the kernel's clock when a dry run begins: the same each time, so that a dry
// run gives the same each time.
const began = int64(1_750_000_000_000)

// agentID of the agent that is checked, unless its file has one.
const agentID = "018f4e5c-0000-7000-8000-000000000001"

// driver drives a kernel through a dry run: the loop of package kernel's documentation,
// with a log that nobody keeps and a clock that jumps.
type driver struct {
	c      *checker
	kernel *kernel.Kernel
	tools  *tools.Registry
	stubs  *stubbed
	wall   int64
	index  uint64
	trace  *trace
	err    error
}

// run runs the agent on a kernel of its own.
func (c *checker) run(ctx context.Context) {
	d, err := c.driver()
	if err == nil {
		err = d.prepare()
	}
	if err == nil {
		d.goOn(ctx)
		err = d.err
	}
	if err != nil {
		c.find(Finding{Severity: Error, Rule: RuleRun, Message: err.Error()}, where{})
		if d == nil || d.trace == nil || d.trace.root == 0 {
			return
		}
	}
	c.report.Run = d.told()
	d.judged()
}

// driver makes a kernel, and a registry of tools all of which are stubs: the real one,
// which holds arguments and results to their schemas.
func (c *checker) driver() (*driver, error) {
	d := &driver{
		c: c, kernel: kernel.New("default", registry.Lookup), wall: began, trace: newTrace(),
		stubs: &stubbed{stubs: c.Stubs, used: make(map[string]int), by: make(map[string]string)},
	}
	var adapters []tools.Adapter
	http := httprequest.New(httprequest.Options{})
	for _, real := range [...]tools.Adapter{echo.Adapter{}, http} {
		m := real.Manifest()
		s := &stub{of: d.stubs, name: m.Name, manifest: m}
		if m.Result != "" {
			output, problem := value.FromJSON([]byte(m.Result), schema.MaxBytes)
			if problem != nil {
				return nil, fmt.Errorf("the schema of %s: %s", m.Name, problem)
			}
			s.output = output
		}
		adapters = append(adapters, s)
	}
	var err error
	d.tools, err = tools.New(tools.Options{Kinds: []tools.Kind{d.stubs}}, adapters...)
	return d, err
}

// prepare boots the kernel, registers the tools, and starts the agent.
func (d *driver) prepare() error {
	configuration := config.Default()
	configuration.ClusterID = "check"
	if out := d.commit(event.KernelBooted, "node:check", &configuration); !out.Done() {
		return fmt.Errorf("the kernel does not boot: %s: %s", out.Refusal.Code, out.Refusal.Rule)
	}
	for _, m := range d.c.stubbedTools() {
		if out := d.commit(event.ToolRegister, "client", &event.RegisterTool{Manifest: *m}); !out.Done() {
			return fmt.Errorf("the tool %s cannot be registered: %s: %s", m.Name, out.Refusal.Field, out.Refusal.Rule)
		}
	}
	define := d.c.Define
	if define.ID == "" {
		define.ID = agentID
	}
	out := d.commit(event.AgentStart, "client", &event.Start{Define: define, Input: d.c.Input})
	if !out.Done() {
		return fmt.Errorf("the agent cannot be started: %s: %s %s", out.Refusal.Code, out.Refusal.Field, out.Refusal.Rule)
	}
	id, _ := flows.ParseID(define.ID)
	d.trace.root, _ = d.kernel.Publish().Find(id)
	for _, message := range d.c.Messages {
		d.commit(event.AgentSend, "client", &event.Send{Agent: define.ID, Message: message})
	}
	return d.err
}

// stubbedTools are the registered tools as the dry run has them, and one for each stub
// of a tool that nobody knows.
func (c *checker) stubbedTools() (all []*kerneltools.Manifest) {
	for _, m := range c.Tools {
		one := *m
		one.Adapter, one.Config, one.Retry = stubKind, nil, kerneltools.Retry{}
		all = append(all, &one)
	}
	for name := range c.Stubs {
		if _, builtIn := kerneltools.Find(name); !builtIn && c.manifests[name] == nil {
			all = append(all, &kerneltools.Manifest{Name: name, Adapter: stubKind})
		}
	}
	return all
}

// commit applies one event, as a replica reads it from its log.
func (d *driver) commit(kind event.Kind, principal string, body any) (out event.Outcome) {
	e := event.Event{Kind: kind, Principal: principal, Wall: d.wall}
	if body != nil {
		e.Body = event.Encode(body)
	}
	sent, err := event.Decode(e.Append(nil))
	if err != nil {
		d.err = err
		return out
	}
	defer func() {
		if cause := recover(); cause != nil {
			d.err = fmt.Errorf("the kernel stopped: %v", cause)
		}
	}()
	d.index++
	applied := d.kernel.Apply(d.index, 1, &sent)
	d.err = d.trace.take(applied.Block)
	return applied.Outcome
}

// goOn drives the kernel until the agent is at rest, or a bound is reached.
func (d *driver) goOn(ctx context.Context) {
	for d.err == nil {
		s := d.kernel.Publish()
		switch {
		case d.atRest(s):
			return
		case ctx.Err() != nil:
			d.trace.stopped = "the time for a dry run is over"
			return
		case d.trace.ticks >= maxTicks:
			d.trace.stopped = fmt.Sprintf("%d ticks have ended, and it goes on", d.trace.ticks)
			return
		case d.index >= maxEvents || len(d.trace.calls) >= maxCalls:
			d.trace.stopped = fmt.Sprintf("it goes on after %d calls", len(d.trace.calls))
			return
		}
		if !d.next(ctx, s) {
			d.trace.stopped = "it waits for a message, and there is none: give one with --message"
			return
		}
	}
}

// next does the next thing there is to do; false when there is nothing.
func (d *driver) next(ctx context.Context, s *state.State) bool {
	if keys := d.kernel.Requested(); len(keys) > 0 {
		for _, key := range keys {
			if call, ok := d.kernel.Publish().Tools.Get(key); ok {
				d.answer(ctx, call)
			}
		}
		return true
	}
	if s.Behind() {
		d.commit(event.Pulse, "node:check", nil)
		return true
	}
	if asked, ok := s.Escalations.Next(0); ok {
		d.trace.approved(asked.Agent, asked.Tick, asked.Call)
		d.commit(event.EscalationDecide, "client", &event.Decide{Escalation: asked.ID, Approve: true, Reason: "a dry run"})
		return true
	}
	if d.trace.listens() {
		return false
	}
	timer, ok := s.Timers.First()
	if ok {
		d.wall = max(d.wall, timer.Deadline)
		d.commit(event.Pulse, "node:check", nil)
	}
	return ok
}

// answer has a call made, as a leader's runner does.
func (d *driver) answer(ctx context.Context, call *kerneltools.Call) {
	key := call.Key
	if !call.Idempotent {
		d.commit(event.ToolDispatched, "node:check", &event.Dispatched{Agent: key.Agent, Tick: key.Tick, Call: key.Call, Node: "check", Term: 1})
	}
	request := tools.Request{Tool: call.Tool, Args: call.Args, Revision: call.Revision, Timeout: time.Minute, IdempotencyKey: fmt.Sprint(key.Agent, "/", key.Tick, "/", key.Call)}
	if revision, ok := d.kernel.Publish().Tools.Revision(call.Revision); ok {
		request.Manifest = revision.Manifest
	}
	result := d.tools.Run(ctx, request)
	by := d.stubs.by[request.IdempotencyKey]
	if by == "" {
		by = byKernel // its door: the arguments do not fit, and no stub was asked
	}
	d.trace.by(key.Agent, key.Tick, key.Call, by)
	d.wall++
	d.commit(event.ToolResult, "node:check", &event.Result{
		Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: result.OK, Value: result.Value, Code: string(result.Code), Message: result.Message, Millis: 1,
	})
}

// atRest tells that nothing more comes of the agent by itself.
func (d *driver) atRest(s *state.State) bool {
	row := s.Agents.Get(d.trace.root)
	switch row.Lifecycle.State {
	case lifecycle.Terminated, lifecycle.Resumable:
		return true
	case lifecycle.Faulted:
		return !d.trace.retrying
	case lifecycle.Active:
		return row.Execution.Current == nil && len(row.Execution.Queue) == 0 && !s.Behind()
	}
	return false
}

// told is what the dry run came to.
func (d *driver) told() *Run {
	row := d.kernel.Publish().Agents.Get(d.trace.root)
	run := &Run{
		State: row.Lifecycle.State.String(), Stopped: d.trace.stopped, Ticks: d.trace.ticks, Steps: d.trace.steps, Agents: len(d.trace.names),
		Millis: d.wall - began, Calls: d.trace.told(), Emitted: d.trace.emitted,
	}
	if result := row.Execution.Result; result != nil && result.OK {
		run.Result = result.Value
	}
	run.Failure = d.trace.failure
	return run
}
