package history_test

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

type body struct {
	Value int64 `json:"value"`
}

// What is recorded by many at once is read again, by number.
func TestRecorded(t *testing.T) {
	var file bytes.Buffer
	r := history.NewRecorder(&file)
	r.Phase(history.Calm)
	var all sync.WaitGroup
	for process := range 8 {
		all.Go(func() {
			for n := range 50 {
				call := r.Call(process, "register", "write", "k", body{int64(n)})
				switch n % 3 {
				case 0:
					call.From("n1", 7, 9).Ok(body{int64(n)})
				case 1:
					call.Fail("VERSION_CONFLICT", "it holds another", nil)
				default:
					call.Unknown("", "no answer")
				}
			}
		})
	}
	all.Wait()
	fault := r.Inject("kill", []string{"n1"}, map[string]any{"signal": "KILL"})
	r.Injected(fault, nil)
	r.Healed(fault, errors.New("it does not start"))
	r.Call(9, "register", "read", "k", nil) // nobody settles it
	require.EqualValues(t, 8*17, r.Done())
	require.NoError(t, r.Close())

	h, err := history.Load(&file)
	require.NoError(t, err)
	require.Len(t, h.Ops, 401)
	last := make(map[int]int64)
	for i := range h.Ops {
		op := &h.Ops[i]
		require.EqualValues(t, i+1, op.ID)
		require.LessOrEqual(t, op.Called, op.Returned)
		require.LessOrEqual(t, last[op.Process], op.Called, "a process does one thing at a time")
		last[op.Process] = op.Returned
		if op.Outcome == history.Unknown {
			require.EqualValues(t, history.Never, op.End())
		} else {
			require.Equal(t, op.Returned, op.End())
		}
	}
	require.Equal(t, history.Unknown, h.Ops[400].Outcome)
	in, err := history.Decode[body](h.Ops[0].In)
	require.NoError(t, err)
	require.Zero(t, in.Value)
	require.Len(t, h.Faults, 1)
	require.Equal(t, "it does not start", h.Faults[0].Error)
	require.NotZero(t, h.Faults[0].Until)
	_, found := h.Begins(history.Calm)
	require.True(t, found)
	_, found = h.Begins(history.Final)
	require.False(t, found)
	require.Len(t, h.Of("register"), 401)
	require.Empty(t, h.Of("append"))
}

// An interrupted run leaves half a line; a damaged one is named.
func TestDamagedFiles(t *testing.T) {
	var file bytes.Buffer
	r := history.NewRecorder(&file)
	r.Phase(history.Calm)
	r.Phase(history.Faults)
	require.NoError(t, r.Close())
	whole := file.String()

	h, err := history.Load(strings.NewReader(whole[:len(whole)-4]))
	require.NoError(t, err)
	require.Len(t, h.Phases, 1)
	for _, bad := range []string{"{}\n", "{\"opp\":{}}\n", "x\n"} {
		_, err = history.Load(strings.NewReader(whole + bad))
		require.ErrorContains(t, err, "line 3 of the history", bad)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

// A history with a hole is said to have one.
func TestUnwritable(t *testing.T) {
	r := history.NewRecorder(full{})
	r.Phase(history.Calm)
	require.ErrorContains(t, r.Close(), "no room")

	var file bytes.Buffer
	r = history.NewRecorder(&file)
	require.NoError(t, r.Close())
	r.Phase(history.Final)
	require.ErrorContains(t, r.Flush(), "after the end")
	require.Panics(t, func() {
		call := history.NewRecorder(&file).Call(1, "w", "f", "", nil)
		call.Ok(nil)
		call.Ok(nil)
	})
}
