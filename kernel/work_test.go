package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// workOf is what the newest event's records cost: one unit each, and one for
// every 64 bytes.
func workOf(s *kerneltest.Sim) (work uint64) {
	for _, r := range s.Last() {
		work += 1 + uint64(len(r.Body))/64
	}
	return work
}

// EV-6, EV-12: ten thousand timers that are due at once are fired by and by, in
// order, each event within its work; commands are answered meanwhile; Pulses
// bring the rest to its end (EX-2).
func TestStormOfTimers(t *testing.T) {
	const agents, limit = 10_000, 20_000
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent = limit })
	bystander := service(s, literal, nil)
	for range agents {
		task(s, sleep100, nil)
	}
	s.Wall += 100
	var fired []uint32
	pulses, answered := 0, false
	for pulses == 0 || kerneltest.Behind(s.State()) {
		if pulses == 1 {
			require.Empty(t, s.Trigger(bystander, "suspend").Refusal)
			answered = true
		} else {
			s.Pulse()
		}
		pulses++
		require.Less(t, workOf(s), uint64(limit+100), "pulse %d", pulses)
		for _, r := range s.Last() {
			if bus.Kind(r.Kind) == bus.TimerCleared {
				fired = append(fired, r.Agent)
			}
		}
	}
	require.True(t, answered)
	require.Greater(t, pulses, 3)
	require.Less(t, pulses, 30)
	require.Len(t, fired, agents)
	for i := 1; i < len(fired); i++ {
		require.Less(t, fired[i-1], fired[i], "in (deadline, id) order, across events")
	}
	st := s.State()
	for no := uint32(2); no <= agents+1; no++ {
		require.Equal(t, lifecycle.Terminated, st.Agents.Get(no).Lifecycle.State)
	}
	s.CheckCounts()
	s.CheckChain()
	s.CheckFold()
}

// EV-12: programs that take all they may do not add up within one event: after
// the one that spends the work the next waits.
func TestGreedyPrograms(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.WorkPerEvent, c.MaxWorkPerTick = 5_000, 20_000 })
	const agents = 5
	for range agents {
		task(s, `{"kind":"SEQ","payload":{"steps":[
			{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":10}}},
			{"kind":"MAP","payload":{"over":"${range(1000)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${len(range(200))}"}}}}]}}`, nil)
	}
	s.Wall += 10
	for i := range agents {
		s.Pulse()
		require.Equal(t, 1, s.Count(bus.TickStarted), "pulse %d", i)
		require.Equal(t, failure.WorkExceeded, kerneltest.Find[*execution.FailedBody](s, bus.TickFailed).Failure.Code)
	}
	require.Zero(t, s.Settle())
	s.Check()
}

// EV-12: the longest block that the limits allow is one that can be read back.
func TestBlocksStayReadable(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.MaxCheckpointBytes = 1 << 20 })
	// A variable of nearly 64 KiB in the checkpoint of each of 1,000 calls.
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","value":"${\"x\"*65000}"}},
		{"kind":"MAP","payload":{"over":"${range(900)}","as":"i","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}}]}}`)}, nil)
	largest := 0
	for kerneltest.Behind(s.State()) {
		s.Pulse()
	}
	for _, raw := range s.Blocks {
		largest = max(largest, len(raw))
		_, err := logging.Decode(raw)
		require.NoError(t, err)
	}
	require.Greater(t, len(s.Blocks), 5)
	require.Greater(t, largest, 2<<20, "the test reaches large blocks")
	require.Less(t, largest, 9<<20)
	s.CheckFold()
}

// Bodies that many share are counted, and the last user takes them along: after
// the end of every agent, in whatever state it was killed, none is left.
func TestInternedBodiesAreGivenBack(t *testing.T) {
	s := kerneltest.New(t, 1)
	for state := lifecycle.Spawned; state < lifecycle.Terminated; state++ {
		if state == lifecycle.Completing || state == lifecycle.Recovering {
			continue
		}
		for range 3 {
			id := bring(s, state)
			for n := range 2 {
				s.Command(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.Value(t, map[string]any{
					"kind": "LITERAL", "payload": map[string]any{"value": n},
				})})
			}
		}
	}
	s.CheckCounts()
	require.NotZero(t, interned(s))
	st := s.State()
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		s.Kill(kerneltest.IDOf(st.Agents.Get(no).Identity.ID))
	}
	s.CheckCounts()
	require.NotZero(t, interned(s), "definitions stay until the retention time is over")
	s.Pass(s.State().Config.RetentionMillis)
	require.Zero(t, interned(s))
	s.Check()
}
