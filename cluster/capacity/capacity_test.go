package capacity_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/capacity"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// holding is a state with so many agents, of at most 1000.
func holding(agents int) *state.State {
	s := state.New("default")
	limits := config.Default()
	limits.MaxAgents = 1000
	s.Config = &limits
	for range agents {
		s.Agents.Append()
	}
	return s
}

// LI-10: near is from 80 % on, and reached is where the next one is refused.
func TestNear(t *testing.T) {
	for _, c := range []struct {
		agents        int
		near, reached bool
	}{{0, false, false}, {799, false, false}, {800, true, false}, {999, true, false}, {1000, true, true}} {
		u := capacity.Of(holding(c.agents))[0]
		require.Equal(t, capacity.Use{Limit: "max_agents", Used: uint64(c.agents), Most: 1000}, u)
		require.Equal(t, c.near, u.Near(), c.agents)
		require.Equal(t, c.reached, u.Reached(), c.agents)
		require.Equal(t, c.near, len(capacity.NearOf(holding(c.agents))) == 1, c.agents)
	}
	require.Empty(t, capacity.Of(state.New("default")), "a cluster that has not begun")
}

// LI-10: a line when a limit comes near, a line when it is reached, and none while it
// stays there or goes up and down about the bound.
func TestEachIsSaidOnce(t *testing.T) {
	var log bytes.Buffer
	w := capacity.NewWatch(hclog.New(&hclog.LoggerOptions{Output: &log, DisableTime: true}))
	var levels []string
	for _, agents := range []int{1, 799, 800, 801, 790, 800, 1000, 1000, 999, 1000, 699, 700, 850} {
		log.Reset()
		w.See(holding(agents))
		if text := log.String(); text != "" {
			require.Contains(t, text, fmt.Sprintf("limit=max_agents used=%d most=1000\n", agents))
			levels = append(levels, fmt.Sprint(agents, " ", strings.Fields(text)[0]))
		}
	}
	require.Equal(t, []string{"800 [WARN]", "1000 [ERROR]", "699 [INFO]", "850 [WARN]"}, levels)
}

// LI-10: what is counted is what the kernel refuses by: at a limit the next command is
// refused, and the one before was not.
func TestTheKernelRefusesAtTheLimit(t *testing.T) {
	for i, limit := range []struct {
		name string
		next func(wall int64, number byte) event.Event
		code failure.Code
	}{
		{"max_agents", func(int64, byte) event.Event { return defining(event.Event{}) }, failure.LimitReached},
		{"max_sessions", func(wall int64, number byte) event.Event {
			return defining(event.Event{Session: event.Session{ID: kerneltest.SessionAt(wall, number), Seq: 1, Floor: 1}})
		}, failure.SessionsFull},
		{"max_idempotency_keys", func(_ int64, number byte) event.Event {
			return defining(event.Event{IdempotencyKey: fmt.Sprint("key-", number)})
		}, failure.SessionsFull},
	} {
		t.Run(limit.name, func(t *testing.T) {
			s := kerneltest.New(t, 1, func(c *config.Config) {
				*[]*uint32{&c.MaxAgents, &c.MaxSessions, &c.MaxIdempotencyKeys}[i] = 4
			})
			use := func() capacity.Use {
				all := capacity.Of(s.State())
				return all[slices.IndexFunc(all, func(u capacity.Use) bool { return u.Limit == limit.name })]
			}
			for number := byte(1); number <= 4; number++ {
				require.False(t, use().Reached())
				outcome := s.Apply(limit.next(s.Wall, number))
				require.True(t, outcome.Done(), "%v", outcome.Refusal)
				require.Equal(t, uint64(number), use().Used)
			}
			require.True(t, use().Reached())
			require.Equal(t, limit.code, s.Apply(limit.next(s.Wall, 5)).Refusal.Code)
			require.Equal(t, uint64(4), use().Used)
		})
	}
}

// defining has an event define an agent.
func defining(e event.Event) event.Event {
	e.Kind, e.Body = event.AgentDefine, event.Encode(event.Define{})
	return e
}
