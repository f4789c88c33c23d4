package kerneltest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/stretchr/testify/require"
)

// Start is the wall time, in Unix milliseconds, of a simulation's first event.
const Start = int64(1_750_000_000_000)

// Sim is one log and the replicas that apply it. Every event is applied by
// every replica at once; the first one answers.
type Sim struct {
	T        testing.TB
	Replicas []*kernel.Kernel
	Events   []event.Event // the log; entry i has index i+1
	Blocks   [][]byte      // the first replica's execution log
	Wall     int64         // stamp of the next event
	Term     uint64
	Pending  []tools.Key // calls requested and not answered yet, oldest first
	agents   int
}

// New boots a simulation of n replicas. Each change is made to the default
// configuration before it is proposed.
func New(t testing.TB, n int, changes ...func(*config.Config)) *Sim {
	s := &Sim{T: t, Wall: Start, Term: 1}
	for range n {
		s.Replicas = append(s.Replicas, kernel.New("default", evaluator.Lookup))
	}
	cfg := Config(changes...)
	s.Apply(event.Event{Kind: event.KernelBooted, Body: event.Encode(cfg)})
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

// Apply commits one event and returns its outcome. It fails the test when a
// replica's block differs from the first one's.
func (s *Sim) Apply(e event.Event) event.Outcome {
	s.T.Helper()
	if e.Wall == 0 {
		e.Wall = s.Wall
	}
	if e.Principal == "" {
		e.Principal = "client"
	}
	s.Events = append(s.Events, e)
	index := uint64(len(s.Events))
	var outcome event.Outcome
	for i, k := range s.Replicas {
		sent, err := event.Decode(e.Append(nil)) // as a replica reads it from its log
		require.NoError(s.T, err)
		applied := k.Apply(index, s.Term, &sent)
		if i == 0 {
			outcome = applied.Outcome
			s.Blocks = append(s.Blocks, bytes.Clone(applied.Block))
			s.Pending = append(s.Pending, k.Requested()...)
			continue
		}
		require.Equal(s.T, s.Blocks[index-1], applied.Block, "replica %d differs at index %d", i, index)
		k.Requested()
	}
	return outcome
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

// Pass lets milliseconds pass and commits a Pulse.
func (s *Sim) Pass(millis int64) {
	s.T.Helper()
	s.Wall += millis
	s.Apply(event.Event{Kind: event.Pulse, Principal: "node:test"})
}

// State is the first replica's present state.
func (s *Sim) State() *state.State { return s.Replicas[0].Publish() }

// NewID makes the next agent id of the simulation.
func (s *Sim) NewID() string {
	s.agents++
	return fmt.Sprintf("018f4e5c-0000-7000-8000-%012d", s.agents)
}

// Row finds an agent's row.
func (s *Sim) Row(id string) *state.Row {
	uuid, ok := flows.ParseID(id)
	require.True(s.T, ok)
	_, row := s.State().Find(uuid)
	return row
}

// StateOf is the lifecycle state of an agent.
func (s *Sim) StateOf(id string) lifecycle.State {
	s.T.Helper()
	row := s.Row(id)
	require.NotNil(s.T, row)
	return row.Lifecycle.State
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
	return s.Apply(event.Event{Kind: event.ToolResult, Principal: "node:test", Body: event.Encode(r)})
}

// Value turns a Go value into a kernel value.
func Value(t testing.TB, v any) value.Raw {
	t.Helper()
	raw, problem := value.FromGo(v)
	require.Nil(t, problem)
	return raw
}

// JSON turns JSON text into a kernel value.
func JSON(t testing.TB, text string) value.Raw {
	t.Helper()
	raw, problem := value.FromJSON([]byte(text), 1<<20)
	require.Nil(t, problem)
	return raw
}

// Record is a record read back from the log.
type Record struct {
	Name string
	logging.Record
}

// Records lists the records of the block at an index, by name.
func (s *Sim) Records(index int) []Record {
	s.T.Helper()
	return Decode(s.T, s.Blocks[index-1])
}

// Last lists the records of the newest block.
func (s *Sim) Last() []Record { return s.Records(len(s.Blocks)) }

// Names lists only the names of the newest block's records.
func (s *Sim) Names() []string {
	var names []string
	for _, r := range s.Last() {
		names = append(names, r.Name)
	}
	return names
}

// Decode reads a block's records.
func Decode(t testing.TB, raw []byte) []Record {
	t.Helper()
	block, err := logging.Decode(raw)
	require.NoError(t, err)
	var out []Record
	for records := block.Records(); records.Next(); {
		r := records.Record
		r.Body = bytes.Clone(r.Body)
		out = append(out, Record{Name: kernel.KindName(kindOf(r)), Record: r})
	}
	return out
}

// IDOf formats an agent's id.
func IDOf(id identity.ID) string { return flows.FormatID(id) }
