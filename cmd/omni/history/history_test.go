package history_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// ofAgent replays an agent out of a file.
func ofAgent(file []byte, id string, of replay.Range) (*replay.Agent, history.Origin, error) {
	var agent *replay.Agent
	origin, err := history.OfAgent(bytes.NewReader(file), id, func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
		agent = replay.NewAgent(no, c, kerneltest.Lookup, find, of)
		return agent
	}, nil)
	return agent, origin, err
}

// whole replays all of a file's log.
func whole(file []byte) (*replay.Log, history.Origin, error) {
	var log *replay.Log
	origin, err := history.Whole(bytes.NewReader(file), func(o history.Origin) func(*logging.Block) error {
		log = replay.NewLog(o.KernelID, kerneltest.Lookup)
		return log.Block
	}, nil)
	return log, origin, err
}

const calling = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"page","do":{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"GET","url":"${input.url}"}}}}},
	{"kind":"RETURN","payload":{"value":"${page.status}"}}]}}`

// INV-18, LO-4: an agent has called a real service over HTTP, through the tool
// that runs in production. Replaying it from every kind of file gives the same
// records, and the service hears nothing of it.
func TestReplayCallsNobody(t *testing.T) {
	var calls atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, "a page")
	}))
	defer service.Close()
	adapter := httprequest.New(httprequest.Options{})
	defer adapter.Close()
	registry, err := tools.New(tools.Options{}, adapter)
	require.NoError(t, err)

	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, calling)}, map[string]any{"url": service.URL})
	call, ok := s.State().Tools.Get(s.Pending[0])
	require.True(t, ok)
	result := registry.Run(t.Context(), tools.Request{Tool: call.Tool, Args: call.Args, IdempotencyKey: "k", Timeout: 10 * time.Second})
	require.True(t, result.OK, result.Message)
	s.Node(event.ToolResult, event.Result{Agent: 1, Tick: 1, Call: 1, OK: true, Value: result.Value, Millis: 1})
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	require.EqualValues(t, 1, calls.Load())

	for kind, file := range map[string][]byte{
		"agent export": agentExport(t, s, 1), "log export": logExport(t, s, 0), "backup": backedUp(t, s),
	} {
		agent, origin, err := ofAgent(file, id, replay.Range{})
		require.NoError(t, err, kind)
		assert.Equal(t, history.Origin{Kind: kind, ClusterID: "test", KernelID: "default"}, origin)
		assert.EqualValues(t, 2, agent.Stats().Runs, kind)
		assert.Equal(t, lifecycle.Terminated, agent.Slice().Row().Lifecycle.State, kind)
		log, _, err := whole(file)
		if kind == "agent export" {
			require.ErrorIs(t, err, history.ErrPart)
			continue
		}
		require.NoError(t, err, kind)
		assert.EqualValues(t, len(s.Blocks), log.Blocks())
		assert.Equal(t, kernel.Digest(s.State()), kernel.Digest(log.Kernel().Publish()))
	}
	assert.EqualValues(t, 1, calls.Load(), "nobody was called")
	_ = registry.Run(context.Background(), tools.Request{Tool: call.Tool, Args: call.Args, IdempotencyKey: "k", Timeout: 10 * time.Second})
	assert.EqualValues(t, 2, calls.Load(), "a call would have been noticed")
}

// A random history is replayed alike, whatever file it comes in.
func TestEveryKindOfFileHoldsTheSame(t *testing.T) {
	h := kerneltest.NewHistory(t, 1, 40, kerneltest.NewSeeded(11))
	h.Run(150)
	log, back := logExport(t, h.Sim, 0), backedUp(t, h.Sim)
	st := h.State()
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		id := kerneltest.IDOf(st.Agents.Get(no).Identity.ID)
		own, _, err := ofAgent(agentExport(t, h.Sim, no), id, replay.Range{})
		require.NoError(t, err, "agent %d", no)
		for kind, file := range map[string][]byte{"log export": log, "backup": back} {
			other, _, err := ofAgent(file, id, replay.Range{})
			require.NoError(t, err, "%s, agent %d", kind, no)
			assert.Equal(t, own.Stats(), other.Stats(), "%s, agent %d", kind, no)
		}
	}
	for _, file := range [][]byte{log, back} {
		again, _, err := whole(file)
		require.NoError(t, err)
		assert.Equal(t, kernel.Digest(st), kernel.Digest(again.Kernel().Publish()))
	}
}

// What is damaged, of another agent or of no use says so; a range that is over
// needs no end of the file.
func TestFilesThatDoNotDo(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	other := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	agent, log, back := agentExport(t, s, 1), logExport(t, s, 0), backedUp(t, s)
	for kind, file := range map[string][]byte{"agent": agent, "log": log, "backup": back} {
		_, _, err := ofAgent(file[:len(file)-3], id, replay.Range{})
		require.Error(t, err, kind)
		damaged := bytes.Clone(file)
		damaged[len(damaged)/2] ^= 0x10
		_, _, err = ofAgent(damaged, id, replay.Range{})
		require.Error(t, err, kind)
		_, _, err = ofAgent(file[:len(file)-3], id, replay.Range{To: 4})
		require.NoError(t, err, "%s: what stands behind the range is not looked at", kind)
		_, _, err = ofAgent(file, kerneltest.AgentID(9), replay.Range{})
		require.Error(t, err, kind)
		_, _, err = ofAgent(file, "nobody", replay.Range{})
		require.Error(t, err, kind)
	}
	var broken *logexport.Broken
	var damaged *backup.Broken
	_, _, err := whole(log[:len(log)-1])
	require.ErrorAs(t, err, &broken)
	_, _, err = whole(back[:len(back)-1])
	require.ErrorAs(t, err, &damaged)
	_, _, err = ofAgent(agent[:20], id, replay.Range{})
	require.ErrorAs(t, err, &broken)
	_, _, err = ofAgent(log, kerneltest.AgentID(9), replay.Range{})
	require.ErrorIs(t, err, replay.ErrNoAgent)
	_, _, err = ofAgent(agent, other, replay.Range{})
	require.ErrorContains(t, err, "another agent")
	_, _, err = whole(logExport(t, s, 1))
	require.ErrorContains(t, err, "needs the log from its beginning")
	for _, nothing := range [][]byte{nil, []byte("short"), []byte("neither of the three")} {
		_, _, err = whole(nothing)
		require.ErrorIs(t, err, history.ErrKind)
		_, _, err = ofAgent(nothing, id, replay.Range{})
		require.ErrorIs(t, err, history.ErrKind)
	}
	disk := errors.New("disk failed")
	_, err = history.Whole(iotest.ErrReader(disk), nil, nil)
	require.ErrorIs(t, err, disk)
	_, err = history.OfAgent(iotest.ErrReader(disk), id, nil, nil)
	require.ErrorIs(t, err, disk)
}
