package callers_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// LI-3: there are places for all, and no caller gets more than its share.
func TestPlaces(t *testing.T) {
	p := callers.NewPlaces("seats", 4, 2, hclog.NewNullLogger())
	for range 2 {
		require.Equal(t, callers.Free, p.Take("a", 1))
	}
	assert.Equal(t, callers.Yours, p.Take("a", 1))
	require.Equal(t, callers.Free, p.Take("b", 2))
	assert.Equal(t, callers.AllHeld, p.Take("c", 1))
	assert.Equal(t, callers.Use{Held: 4, Most: 4, Turned: 2}, p.Use())
	p.Back("b", 1)
	assert.Equal(t, callers.Yours, p.Take("a", 1))
	require.Equal(t, callers.Free, p.Take("c", 1))
	for _, held := range []string{"a", "a", "b", "c"} {
		p.Back(held, 1)
	}
	assert.Zero(t, p.Use().Held)
}

// LI-4: the node's log warns of a limit that is near and tells of one that is
// reached, once a minute.
func TestMarks(t *testing.T) {
	var log bytes.Buffer
	m := callers.NewMark("seats", 10, logTo(&log))
	now := time.Unix(1_000_000, 0)
	m.See(7, now)
	assert.Empty(t, log.String())
	for range 3 {
		m.See(8, now)
	}
	assert.Equal(t, "[WARN]  a limit is near: limit=seats used=8 most=10\n", log.String())
	log.Reset()
	m.See(10, now)
	m.See(10, now)
	assert.Equal(t, "[ERROR] a limit is reached: limit=seats used=10 most=10\n", log.String())
	m.See(9, now.Add(59*time.Second))
	m.See(9, now.Add(61*time.Second))
	assert.Equal(t, 2, strings.Count(log.String(), "\n"))
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		used, most uint64
		near, full bool
	}{{79, 100, false, false}, {80, 100, true, false}, {100, 100, true, true}, {7, 0, false, false}, {1 << 62, 1 << 63, false, false}, {7 << 60, 1 << 63, true, false}, {0, 1, false, false}, {1, 1, true, true}} {
		near, full := callers.Near(c.used, c.most)
		assert.Equal(t, c.near, near, "%+v", c)
		assert.Equal(t, c.full, full, "%+v", c)
	}
}
