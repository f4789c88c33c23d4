package kernel_test

import (
	"testing"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/stretchr/testify/require"
)

var allowAll = kerneltest.AllowAll()

const echoTwice = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"first","do":{"kind":"CALL","payload":{"tool":"echo","args":{"n":"${input.n}"}}}}},
	{"kind":"LET","payload":{"name":"at","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}},
	{"kind":"RETURN","payload":{"value":{"got":"${first.n + 1}","at":"${at}"}}}]}}`

// The life of a task agent: define, spawn, activate, a call out and back,
// complete; the log folds to the state, and replays to the same bytes.
func TestLifeOfAnAgent(t *testing.T) {
	s := kerneltest.New(t, 3)
	id := s.NewID()
	started := s.Must(event.AgentStart, event.Start{
		Define: event.Define{ID: id, Name: "hello", Grants: allowAll, Program: kerneltest.JSON(t, echoTwice)},
		Input:  kerneltest.Value(t, map[string]any{"n": 41}),
	})
	require.Equal(t, uint8(lifecycle.Active), started.State)
	require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	require.Len(t, s.Pending, 1)
	s.Wall += 5
	s.Answer(true, map[string]any{"n": 41})
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	result := s.Row(id).Execution.Result
	require.True(t, result.OK)
	require.JSONEq(t, `{"got":42,"at":1750000000005}`, string(result.Value.AppendJSON(nil)))
	s.Check()
}
