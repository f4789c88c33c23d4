package callers_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

func logTo(b *bytes.Buffer) hclog.Logger {
	return hclog.New(&hclog.LoggerOptions{Output: b, DisableTime: true})
}

// LI-1: a caller has its burst, then its rate; another has its own.
func TestRates(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var log bytes.Buffer
	r := callers.NewRates(callers.Rate{Mode: callers.Enforce, PerSecond: 10, Burst: 3}, logTo(&log))
	for range 3 {
		_, ok := r.Take("a", 1, now)
		require.True(t, ok)
	}
	wait, ok := r.Take("a", 1, now)
	require.False(t, ok)
	assert.Equal(t, 100*time.Millisecond, wait)
	wait, ok = r.Take("a", 2, now)
	require.False(t, ok, "who is refused has taken nothing")
	assert.Equal(t, 200*time.Millisecond, wait)
	_, ok = r.Take("b", 3, now)
	assert.True(t, ok, "another caller")
	_, ok = r.Take("a", 1, now.Add(100*time.Millisecond))
	assert.True(t, ok, "after the wait that it was told")
	_, ok = r.Take("c", 1000, now)
	assert.True(t, ok, "more than the burst takes all of it")
	_, ok = r.Take("c", 1, now)
	assert.False(t, ok)
	assert.Equal(t, uint64(3), r.Over())
	assert.Equal(t, uint64(3), r.Refused())
	assert.Equal(t, 1, strings.Count(log.String(), "\n"), "one line for all of it: %s", &log)
	assert.Contains(t, log.String(), "[ERROR] a caller asks for more than its rate, and is refused: caller=a")
}

// LI-1: warn refuses nothing and says who; off says nothing either.
func TestModes(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, c := range []struct {
		mode callers.Mode
		over uint64
		says string
	}{{callers.Warn, 99, "[WARN]  a caller asks for more than its rate; with --rate-limit enforce it would be refused: caller=a"}, {callers.Off, 0, ""}} {
		var log bytes.Buffer
		r := callers.NewRates(callers.Rate{Mode: c.mode, PerSecond: 1, Burst: 1}, logTo(&log))
		for range 100 {
			_, ok := r.Take("a", 1, now)
			require.True(t, ok, c.mode)
		}
		assert.Equal(t, c.over, r.Over(), c.mode)
		assert.Zero(t, r.Refused(), c.mode)
		assert.Contains(t, log.String(), c.says, c.mode)
		assert.Equal(t, len(c.says) > 0, log.Len() > 0, c.mode)
	}
}

// LI-2: a flood of callers costs the memory of MostCallers, and one that keeps
// asking stays known.
func TestFloodOfCallers(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	r := callers.NewRates(callers.Rate{Mode: callers.Enforce, PerSecond: 0.001, Burst: 1}, hclog.NewNullLogger())
	_, ok := r.Take("steady", 1, now)
	require.True(t, ok)
	for i := range 20 * callers.MostCallers {
		_, ok := r.Take(fmt.Sprint("client@10.", i), 1, now)
		require.True(t, ok)
		if i%1000 == 0 {
			_, ok = r.Take("steady", 1, now)
			require.False(t, ok, "it is remembered")
		}
		require.LessOrEqual(t, r.Known(), callers.MostCallers)
	}
	assert.Equal(t, callers.MostCallers, r.Known())
}

func TestRatesThatCannotBe(t *testing.T) {
	for _, r := range []callers.Rate{{Mode: "sometimes"}, {PerSecond: -1}, {PerSecond: 1e9}, {Burst: -1}, {Burst: 1e9}} {
		assert.Error(t, r.Check(), "%+v", r)
	}
	assert.NoError(t, callers.DefaultRate.Check())
	assert.NoError(t, callers.Rate{}.Check())
	assert.Equal(t, callers.Rate{Mode: callers.Warn, PerSecond: 5, Burst: 10}, callers.Rate{PerSecond: 5}.WithDefaults())
}
