package nodestate

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func start() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }

// NO-1: any course of triggers, failures and time keeps to the table; what is
// refused changes nothing; the journal alone tells where the node stands.
func TestAnyCourse(t *testing.T) {
	all := parseEdges(t)
	rapid.Check(t, func(t *rapid.T) {
		var b book
		clock := &hands{start()}
		r := New(Options{Policy: testPolicy, Sink: &b, Now: clock.now})
		parts := []string{"api", "tools"}
		r.Name("api", true)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			part := rapid.SampledFrom(parts).Draw(t, "part")
			before, entries := r.Snapshot(), len(b.entries)
			switch rapid.IntRange(0, 6).Draw(t, "what") {
			case 0:
				r.OK(part)
			case 1:
				r.Failed(part, "broke")
			case 2:
				r.Stopped(part)
			case 3:
				clock.at = clock.at.Add(time.Duration(rapid.IntRange(0, 12).Draw(t, "seconds")) * time.Second)
				r.Review()
			default:
				trigger := rapid.SampledFrom(Triggers()).Draw(t, "trigger")
				if refusal := r.Transition(trigger, Cause{By: "operator"}); refusal != nil {
					after := r.Snapshot()
					after.Seq--
					require.Equal(t, before, after)
					require.Equal(t, KindRefusal, b.last().Kind)
				}
			}
			checkEntries(t, all, b.entries[entries:], before.State)
			require.Equal(t, r.State().Closed(), r.Closed())
		}
		var told Memory
		for i := range b.entries {
			require.Equal(t, uint64(i+1), b.entries[i].Seq)
			told.Follow(&b.entries[i])
		}
		require.Equal(t, b.memory, told)
		require.Equal(t, r.Snapshot().Memory, told)
	})
}

func checkEntries(t *rapid.T, all []edge, entries []Entry, state State) {
	for _, e := range entries {
		if e.Kind != KindTransition {
			continue
		}
		require.Equal(t, state, e.From)
		require.True(t, slices.ContainsFunc(all, func(x edge) bool {
			return x.from == e.From && x.trigger == e.Trigger && x.to == e.To
		}), "no such edge: %+v", e)
		state = e.To
	}
}

// Starts that fail wait longer and longer, and end in Crashed when none is left.
func TestStartsAreCounted(t *testing.T) {
	var b book
	clock := &hands{start()}
	r := New(Options{Policy: testPolicy, Sink: &b, Now: clock.now})
	require.Nil(t, r.Transition(Start, Cause{}))
	var waits []time.Duration
	for {
		require.Nil(t, r.Transition(InitFail, Cause{Text: "port in use"}))
		s := r.Snapshot()
		waits = append(waits, s.RetryIn)
		require.Equal(t, len(waits), s.Attempt)
		require.Equal(t, len(waits), b.last().Attempt)
		clock.at = clock.at.Add(s.RetryIn / 2)
		require.Equal(t, s.RetryIn/2, r.Snapshot().RetryIn)
		if r.Transition(Retry, Cause{}) != nil {
			break
		}
	}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, waits)
	require.Nil(t, r.Transition(Exhausted, Cause{}))
	require.Equal(t, Crashed, r.State())

	again := New(Options{Policy: testPolicy, Now: clock.now})
	require.Nil(t, again.Transition(Start, Cause{}))
	require.Nil(t, again.Transition(InitFail, Cause{}))
	require.Nil(t, again.Transition(Retry, Cause{}))
	require.Nil(t, again.Transition(InitOK, Cause{}))
	require.Zero(t, again.Snapshot().Attempt, "a start that came about ends the streak")
}

// A component that keeps failing makes the node Degraded; peace for a window
// makes it Running again; one that is given up keeps it Degraded.
func TestDegraded(t *testing.T) {
	var b book
	clock := &hands{start()}
	r := New(Options{Policy: testPolicy, Sink: &b, Now: clock.now})
	require.Nil(t, r.Transition(Start, Cause{}))
	require.Nil(t, r.Transition(InitOK, Cause{}))
	fail := func(wait time.Duration, again bool) {
		t.Helper()
		gotWait, gotAgain := r.Failed("backups", "disk full")
		require.Equal(t, []any{wait, again}, []any{gotWait, gotAgain})
	}
	fail(0, true)
	r.OK("backups")
	clock.at = clock.at.Add(testPolicy.ErrorWindow)
	fail(0, true) // too long ago to be a streak
	require.Equal(t, Running, r.State())
	fail(0, true)
	require.Equal(t, Degraded, r.State())
	require.Equal(t, "component:backups", b.last().By)
	require.Contains(t, b.last().Cause, "2 times in a row: disk full")

	r.OK("backups")
	clock.at = clock.at.Add(testPolicy.ErrorWindow - time.Nanosecond)
	r.Review()
	require.Equal(t, Degraded, r.State())
	clock.at = clock.at.Add(time.Nanosecond)
	r.Review()
	require.Equal(t, Running, r.State())

	for _, wait := range []time.Duration{0, 0, time.Second, 2 * time.Second, 3 * time.Second} {
		fail(wait, true)
		require.Equal(t, wait > 0, r.Snapshot().Components[0].Status == StatusBackoff)
	}
	fail(0, false)
	clock.at = clock.at.Add(time.Hour)
	r.Review()
	s := r.Snapshot()
	require.Equal(t, Degraded, s.State)
	require.Equal(t, StatusFailed, s.Components[0].Status)
	require.Equal(t, 8, s.Components[0].Restarts)
}

// NO-3: what was suspended comes back suspended, however it ended in between.
func TestSuspensionOutlivesTheProcess(t *testing.T) {
	for _, end := range [][]Trigger{{Shutdown, Done}, {Fatal}, {}} {
		var b book
		r := New(Options{Policy: testPolicy, Sink: &b})
		for _, trigger := range []Trigger{Start, InitOK, Estop} {
			require.Nil(t, r.Transition(trigger, Cause{By: "operator", Text: "smoke"}))
		}
		for _, trigger := range end {
			require.Nil(t, r.Transition(trigger, Cause{By: "signal"}))
		}
		left := b.memory
		next := New(Options{Policy: testPolicy, Sink: &b, Before: &left})
		require.Equal(t, left.State, b.last().From)
		require.Nil(t, next.Transition(Start, Cause{}))
		require.Nil(t, next.Transition(InitOK, Cause{}))
		s := next.Snapshot()
		require.Equal(t, Suspended, s.State)
		require.Equal(t, "smoke", s.Suspension.Reason)
		require.True(t, s.Suspension.Estop)
		require.Equal(t, uint64(2), s.Boot)
		require.Equal(t, left, *s.Before)
		require.Nil(t, next.Transition(Resume, Cause{}))
		require.Nil(t, b.memory.Suspension)
	}
}

func TestPolicies(t *testing.T) {
	require.NoError(t, DefaultPolicy.Check())
	for name, spoil := range map[string]func(*Policy){
		"start attempts": func(p *Policy) { p.StartAttempts = 0 },
		"backoff":        func(p *Policy) { p.MaxBackoff = p.StartBackoff - 1 },
		"degraded":       func(p *Policy) { p.DegradedAfter = 0 },
		"budget":         func(p *Policy) { p.RestartBudget = p.DegradedAfter - 1 },
		"window":         func(p *Policy) { p.ErrorWindow = 0 },
	} {
		p := DefaultPolicy
		spoil(&p)
		require.ErrorContains(t, p.Check(), name)
	}
	require.Equal(t, DefaultPolicy.MaxBackoff, DefaultPolicy.doubling(time.Nanosecond, 1000))
}

// Texts of others are kept short, whole characters only.
func TestTextsAreBounded(t *testing.T) {
	var b book
	r := New(Options{Policy: testPolicy, Sink: &b})
	require.Nil(t, r.Transition(Fatal, Cause{Text: "x" + strings.Repeat("é", 400) + "\xff"}))
	require.Less(t, len(b.last().Cause), maxText+4)
	require.NotContains(t, b.last().Cause, "�")
}
