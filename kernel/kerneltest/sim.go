package kerneltest

import (
	"bytes"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// Start is the wall time, in Unix milliseconds, of a simulation's first event.
const Start = int64(1_750_000_000_000)

// Apply is how a kernel takes one log entry in: kernel.Apply, ApplyQuarantined,
// or a hook of the kernel's own tests.
type Apply func(k *kernel.Kernel, index, term uint64, e *event.Event) kernel.Applied

// Entry is one entry of the log.
type Entry struct {
	Event event.Event
	Term  uint64
	Apply Apply
}

// Sim is one log and the replicas that apply it. Every event is applied by
// every replica at once; the first one answers.
type Sim struct {
	T        TB
	Lookup   flows.Lookup // finds evaluators; registry.Lookup unless changed before the first event
	Replicas []*kernel.Kernel
	Log      []Entry     // entry i has index i+1
	Blocks   [][]byte    // the first replica's execution log
	Wall     int64       // stamp of the next event
	Term     uint64      // term of the next event
	Pending  []tools.Key // calls requested and not answered yet, oldest first
	Model    *Naive      // takes every event in too, and must agree; nil for none
	Guard    *Guard      // takes every event in too, and must agree on who may; nil for none
	Flaws    int         // records that a test made the kernel publish though they are wrong
	agents   int
}

// New boots a simulation of n replicas. Each change is made to the default
// configuration before it is proposed.
func New(t TB, n int, changes ...func(*config.Config)) *Sim {
	return NewWith(t, n, registry.Lookup, changes...)
}

// NewWith boots a simulation whose replicas know other evaluators (EX-9).
func NewWith(t TB, n int, lookup flows.Lookup, changes ...func(*config.Config)) *Sim {
	s := Unbooted(t, n, lookup)
	s.Apply(event.Event{Kind: event.KernelBooted, Principal: "node:test", Body: event.Encode(Config(changes...))})
	return s
}

// Unbooted is a simulation before its first event.
func Unbooted(t TB, n int, lookup flows.Lookup) *Sim {
	s := &Sim{T: t, Lookup: lookup, Wall: Start, Term: 1}
	for range n {
		s.Replicas = append(s.Replicas, kernel.New("default", lookup))
	}
	return s
}

// Config is the default configuration of tests, changed as asked.
func Config(changes ...func(*config.Config)) *config.Config {
	cfg := config.Default()
	cfg.ClusterID = "test"
	cfg.Seed = [16]byte{1, 2, 3}
	for _, change := range changes {
		change(&cfg)
	}
	return &cfg
}

// Version1 is a change to a configuration: what kernel version 1 knows of it (EV-9).
func Version1(c *config.Config) { *c = c.At(1) }

// Upgrade commits that every node knows the next kernel version.
func (s *Sim) Upgrade() event.Outcome {
	s.T.Helper()
	limits := config.Default()
	return s.Node(event.KernelUpgraded, event.Upgraded{
		Version: s.State().Version() + 1, LogWarnBytes: limits.LogWarnBytes, LogErrorBytes: limits.LogErrorBytes,
	})
}

// Apply commits one event and returns its outcome. It fails the test when a
// replica's block differs from the first one's.
func (s *Sim) Apply(e event.Event) event.Outcome {
	s.T.Helper()
	return s.Commit(e, (*kernel.Kernel).Apply)
}

// Quarantine commits an event that operators keep from running (EV-14).
func (s *Sim) Quarantine(e event.Event) event.Outcome {
	s.T.Helper()
	return s.Commit(e, (*kernel.Kernel).ApplyQuarantined)
}

// Commit commits one event that the replicas take in by apply.
func (s *Sim) Commit(e event.Event, apply Apply) event.Outcome {
	s.T.Helper()
	if e.Wall == 0 {
		e.Wall = s.Wall
	}
	if e.Principal == "" {
		e.Principal = "client"
	}
	entry := Entry{Event: e, Term: s.Term, Apply: apply}
	s.Log = append(s.Log, entry)
	index := uint64(len(s.Log))
	var outcome event.Outcome
	var before *state.State
	if s.Guard != nil {
		before = s.State()
	}
	for i, k := range s.Replicas {
		applied := entry.on(s.T, k, index)
		requested := k.Requested()
		if i > 0 {
			require.Equal(s.T, s.Blocks[index-1], applied.Block, "replica %d differs at index %d", i, index)
			continue
		}
		outcome = applied.Outcome
		s.Blocks = append(s.Blocks, bytes.Clone(applied.Block))
		s.Pending = append(s.Pending, requested...)
	}
	if s.Model != nil {
		s.Model.Agrees(s, outcome)
	}
	if s.Guard != nil {
		s.Guard.Agrees(s, before, &e, outcome)
	}
	return outcome
}

// on lets a kernel take the entry in as a replica reads it from its log.
func (e *Entry) on(t TB, k *kernel.Kernel, index uint64) kernel.Applied {
	t.Helper()
	sent, err := event.Decode(e.Event.Append(nil))
	require.NoError(t, err)
	return e.Apply(k, index, e.Term, &sent)
}

// Command commits a client's command.
func (s *Sim) Command(kind event.Kind, body any) event.Outcome {
	s.T.Helper()
	return s.Apply(event.Event{Kind: kind, Body: event.Encode(body)})
}

// Must commits a command that has to take effect.
func (s *Sim) Must(kind event.Kind, body any) event.Outcome {
	s.T.Helper()
	outcome := s.Command(kind, body)
	require.Empty(s.T, outcome.Refusal)
	return outcome
}

// Trigger commits an AgentTrigger of a client.
func (s *Sim) Trigger(id, trigger string) event.Outcome {
	s.T.Helper()
	return s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: trigger})
}

// Kill commits an AgentKill.
func (s *Sim) Kill(id string) event.Outcome {
	s.T.Helper()
	return s.Command(event.AgentKill, event.Kill{Agent: id})
}

// Start defines an agent that may call every tool, and starts it. It returns
// the agent's id.
func (s *Sim) Start(define event.Define, input any) string {
	s.T.Helper()
	if define.ID == "" {
		define.ID = s.NewID()
	}
	if define.Grants == nil {
		define.Grants = AllowAll()
	}
	s.Must(event.AgentStart, event.Start{Define: define, Input: Value(s.T, input)})
	return define.ID
}

// Pass lets milliseconds pass and commits a Pulse.
func (s *Sim) Pass(millis int64) {
	s.T.Helper()
	s.Wall += millis
	s.Pulse()
}

// Pulse commits an empty event.
func (s *Sim) Pulse() {
	s.T.Helper()
	s.Apply(event.Event{Kind: event.Pulse, Principal: "node:test"})
}

// Settle commits Pulses until no tick is queued and no timer is due, and
// returns how many it took (EX-2, EV-12).
func (s *Sim) Settle() (pulses int) {
	s.T.Helper()
	for st := s.State(); Behind(st); st = s.State() {
		s.Pulse()
		pulses++
		require.Less(s.T, pulses, 100_000, "the kernel does not come to rest")
	}
	return pulses
}

// Behind tells whether the state holds work that the next event will do.
func Behind(s *state.State) bool { return s.Behind() }

// State is the first replica's present state.
func (s *Sim) State() *state.State { return s.Replicas[0].Publish() }

// NewID makes the next agent id of the simulation.
func (s *Sim) NewID() string {
	s.agents++
	return AgentID(s.agents)
}

// AgentID is the id of the nth agent of a test.
func AgentID(n int) string { return fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", n) }

// Row finds an agent's row.
func (s *Sim) Row(id string) *state.Row {
	s.T.Helper()
	uuid, ok := flows.ParseID(id)
	require.True(s.T, ok)
	_, row := s.State().Find(uuid)
	require.NotNil(s.T, row)
	return row
}

// StateOf is the lifecycle state of an agent.
func (s *Sim) StateOf(id string) lifecycle.State {
	s.T.Helper()
	return s.Row(id).Lifecycle.State
}

// Answer hands in the result of the oldest pending call.
func (s *Sim) Answer(ok bool, v any) event.Outcome {
	s.T.Helper()
	require.NotEmpty(s.T, s.Pending, "no call is pending")
	key := s.Pending[0]
	s.Pending = s.Pending[1:]
	return s.Result(key, ok, v)
}

// Result hands in a call's result: a value, or a failure code.
func (s *Sim) Result(key tools.Key, ok bool, v any) event.Outcome {
	s.T.Helper()
	r := event.Result{Agent: key.Agent, Tick: key.Tick, Call: key.Call, OK: ok, Millis: 1}
	if ok {
		r.Value = Value(s.T, v)
	} else {
		r.Code, r.Message = fmt.Sprint(v), "the tool said no"
	}
	return s.Node(event.ToolResult, r)
}

// Dispatch commits that a node is about to run a call.
func (s *Sim) Dispatch(key tools.Key) event.Outcome {
	s.T.Helper()
	return s.Node(event.ToolDispatched, event.Dispatched{Agent: key.Agent, Tick: key.Tick, Call: key.Call, Node: "test", Term: s.Term})
}

// Node commits an event that a node proposes by itself.
func (s *Sim) Node(kind event.Kind, body any) event.Outcome {
	s.T.Helper()
	return s.Apply(event.Event{Kind: kind, Principal: "node:test", Body: event.Encode(body)})
}

// IDOf formats an agent's id.
func IDOf(id identity.ID) string { return flows.FormatID(id) }

// SessionAt is the id of the session that a client opened at a kernel time.
func SessionAt(millis int64, client byte) (id [16]byte) {
	for i := range 6 {
		id[i] = byte(millis >> (8 * (5 - i)))
	}
	id[15] = client
	return id
}

// InSession is a command in a session.
func InSession(id [16]byte, seq, floor uint64, kind event.Kind, body any) event.Event {
	return event.Event{Kind: kind, Session: event.Session{ID: id, Seq: seq, Floor: floor}, Body: event.Encode(body)}
}
