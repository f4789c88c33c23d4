package nodestate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// edges is the machine written down a second time, from node-lifecycle.md and
// NO-1, in other words: from, trigger, what must hold, to.
const edges = `
Created     start            config             Starting
Starting    init_ok          healthy,free       Running
Starting    init_ok          healthy,held       Suspended
Starting    init_fail        starts             Backoff
Backoff     retry            starts             Starting
Backoff     exhausted        nostarts           Crashed
Running     component_errors streak             Degraded
Degraded    recovered        clear              Running
Running     pause            -                  Suspended
Running     estop            -                  Suspended
Degraded    pause            -                  Suspended
Degraded    estop            -                  Suspended
Suspended   resume           healthy            Running
Created     shutdown         -                  Terminating
Starting    shutdown         -                  Terminating
Running     shutdown         -                  Terminating
Degraded    shutdown         -                  Terminating
Suspended   shutdown         -                  Terminating
Backoff     shutdown         -                  Terminating
Terminating shutdown         -                  Terminating
Crashed     shutdown         -                  Terminating
Terminating done             stopped            Terminated
Created     fatal            -                  Crashed
Starting    fatal            -                  Crashed
Running     fatal            -                  Crashed
Degraded    fatal            -                  Crashed
Suspended   fatal            -                  Crashed
Backoff     fatal            -                  Crashed
Terminating fatal            -                  Crashed
Crashed     fatal            -                  Crashed
`

type edge struct {
	from    State
	trigger Trigger
	needs   []string
	to      State
}

func parseEdges(t *testing.T) (all []edge) {
	for line := range strings.Lines(strings.TrimSpace(edges)) {
		word := strings.Fields(line)
		require.Len(t, word, 4, line)
		e := edge{from: State(word[0]), trigger: Trigger(word[1]), to: State(word[3])}
		if word[2] != "-" {
			e.needs = strings.Split(word[2], ",")
		}
		all = append(all, e)
	}
	return all
}

var testPolicy = Policy{
	StartAttempts: 3, StartBackoff: time.Second, MaxBackoff: 3 * time.Second,
	DegradedAfter: 2, ErrorWindow: 10 * time.Second, RestartBackoff: time.Second, RestartBudget: 6,
}

// book keeps entries, and what would be remembered after each.
type book struct {
	entries []Entry
	memory  Memory
	full    error
}

func (b *book) Err() error { return b.full }

func (b *book) Record(e Entry, now Memory) {
	b.entries, b.memory = append(b.entries, e), now
}

func (b *book) last() Entry { return b.entries[len(b.entries)-1] }

// hands is a clock that a test moves.
type hands struct{ at time.Time }

func (h *hands) now() time.Time { return h.at }

// facts are what the guards can see.
type facts struct{ config, healthy, held, starts, streak, stopped bool }

func (f facts) hold(name string) bool {
	switch name {
	case "config":
		return f.config
	case "healthy":
		return f.healthy
	case "held":
		return f.held
	case "free":
		return !f.held
	case "starts":
		return f.starts
	case "nostarts":
		return !f.starts
	case "streak":
		return f.streak
	case "clear":
		return !f.streak
	case "stopped":
		return f.stopped
	}
	panic("no such fact: " + name)
}

// everyFacts are all of them, but for those that cannot be at once.
func everyFacts() (all []facts) {
	for bits := range 64 {
		f := facts{bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0, bits&16 != 0, bits&32 != 0}
		if f.healthy && f.stopped || f.streak && f.stopped {
			continue
		}
		all = append(all, f)
	}
	return all
}

// at is a Registry in a state, with these facts.
func at(s State, f facts, b *book) *Registry {
	clock := &hands{time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	o := Options{Policy: testPolicy, Sink: b, Now: clock.now}
	if !f.config {
		o.Invalid = "broken"
	}
	r := New(o)
	part := &component{Component: Component{Name: "part", Required: true, Status: StatusStarting}}
	r.components = append(r.components, part)
	if f.healthy {
		part.Status = StatusOK
	}
	if f.stopped {
		part.Status = StatusStopped
	}
	if f.streak {
		part.failures, part.LastErrorAt = testPolicy.DegradedAfter, clock.at
	}
	if f.held {
		r.memory.Suspension = &Suspension{By: "operator"}
	}
	if !f.starts {
		r.attempt = testPolicy.StartAttempts
	}
	r.memory.State = s
	r.closed.Store(s.Closed())
	return r
}

// NO-1: every state and every trigger, under all facts: either the edge that the
// second table has, or a refusal that changes nothing and is on record.
func TestEveryPair(t *testing.T) {
	all := parseEdges(t)
	taken := make(map[string]bool)
	for _, s := range States() {
		for _, trigger := range Triggers() {
			for _, f := range everyFacts() {
				name := fmt.Sprintf("%s %s %+v", s, trigger, f)
				var want State
				for _, e := range all {
					fits := e.from == s && e.trigger == trigger
					for _, need := range e.needs {
						fits = fits && f.hold(need)
					}
					if fits {
						require.Empty(t, want, "two edges: %s", name)
						want = e.to
					}
				}
				var b book
				r := at(s, f, &b)
				before := r.Snapshot()
				try := r.Try(trigger)
				require.Equal(t, before, r.Snapshot(), "asking changes nothing: %s", name)
				refusal := r.Transition(trigger, Cause{By: "test", Text: "why"})
				require.Equal(t, try, refusal, name)
				e := b.last()
				require.Equal(t, []any{s, trigger, "test", "why"}, []any{e.From, e.Trigger, e.By, e.Cause}, name)
				if want == "" {
					requireRefused(t, name, r, before, refusal, e)
					continue
				}
				taken[fmt.Sprint(s, trigger, want)] = true
				require.Nil(t, refusal, name)
				require.Equal(t, want, r.State(), name)
				require.Equal(t, []any{KindTransition, want, want.Closed()}, []any{e.Kind, e.To, r.Closed()}, name)
			}
		}
	}
	require.Len(t, taken, len(all), "an edge that no facts allow")
}

func requireRefused(t *testing.T, name string, r *Registry, before Snapshot, refusal *Refusal, e Entry) {
	t.Helper()
	require.NotNil(t, refusal, name)
	require.NotEmpty(t, refusal.Rule, name)
	after := r.Snapshot()
	require.Equal(t, before.Seq+1, after.Seq, name)
	after.Seq = before.Seq
	require.Equal(t, before, after, name)
	require.Equal(t, []any{KindRefusal, State(""), refusal.Rule}, []any{e.Kind, e.To, e.Rule}, name)
}

// NO-2: which states take commands.
func TestClosedStates(t *testing.T) {
	for _, s := range States() {
		closed := strings.Contains("Suspended Terminating Terminated Crashed", string(s))
		require.Equal(t, closed, s.Closed(), s)
	}
}
