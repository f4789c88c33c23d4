package logexport_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

const calling = `{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"a","do":{"kind":"CALL","payload":{"tool":"echo","args":{}}}}},
	{"kind":"RETURN","payload":{"value":"${a}"}}]}}`

// twins are two agents with one program: the second's stands in the first's
// block.
func twins(t testing.TB) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, calling)}, nil)
	s.Start(event.Define{Program: kerneltest.JSON(t, calling)}, nil)
	s.Answer(true, 1)
	s.Answer(true, 2)
	return s
}

// headerOf describes an agent's history as of the simulation's state.
func headerOf(s *kerneltest.Sim, no uint32) logexport.SubjectHeader {
	row := s.State().Agents.Get(no)
	return logexport.SubjectHeader{
		ClusterID: "test", KernelID: "default", AgentID: kerneltest.IDOf(row.Identity.ID), Agent: no,
		Position: row.LastBlock - 1, Head: hex.EncodeToString(row.Head[:]),
	}
}

// exportAgent writes an agent's export as a server does.
func exportAgent(t kerneltest.TB, s *kerneltest.Sim, no uint32) []byte {
	t.Helper()
	var file bytes.Buffer
	log := s.Placed()
	w, err := logexport.NewSubjectWriter(&file, headerOf(s, no))
	require.NoError(t, err)
	require.NoError(t, w.First(log.Blocks[0]))
	for _, at := range log.Order {
		b := log.Blocks[at]
		if _, touched := b.Previous(no); !touched {
			continue
		}
		for _, pointer := range kernel.Elsewhere(b, func(agent uint32) bool { return agent == no }) {
			if !w.Has(pointer) {
				require.NoError(t, w.Body(pointer-1, log.Blocks[pointer-1]))
			}
		}
		require.NoError(t, w.Block(at, b))
	}
	require.NoError(t, w.Finish())
	return file.Bytes()
}

// replayed runs what an export holds again.
func replayed(t kerneltest.TB, s *kerneltest.Sim, file []byte) replay.Stats {
	t.Helper()
	r, err := logexport.NewAgentReader(bytes.NewReader(file))
	require.NoError(t, err)
	find := func(no uint32, pointer uint64) ([]byte, error) {
		if b := r.Held(pointer); b != nil {
			return kernel.BodyIn(b, no), nil
		}
		return nil, errors.New("not held")
	}
	_, first, err := r.Next()
	require.NoError(t, err)
	agent := replay.NewAgent(r.Header().Agent, kernel.ConfigIn(first), s.Lookup, find, replay.Range{})
	for {
		at, b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return agent.Stats()
		}
		require.NoError(t, err)
		require.NoError(t, agent.Block(at, b))
	}
}

// LO-4: an agent's export is all that replaying it takes.
func TestAgentExportIsAllThatReplayTakes(t *testing.T) {
	s := twins(t)
	file := exportAgent(t, s, 2)
	var copied bytes.Buffer
	sum, err := logexport.CopyAgent(&copied, bytes.NewReader(file))
	require.NoError(t, err)
	assert.Equal(t, file, copied.Bytes())
	assert.Equal(t, headerOf(s, 2), sum.SubjectHeader)
	assert.EqualValues(t, 2, sum.Blocks)
	assert.EqualValues(t, 1, sum.Bodies, "program and grants stand in one block")
	assert.EqualValues(t, len(s.Blocks), sum.LastIndex)
	assert.EqualValues(t, s.State().Log.NextSeq-1, sum.LastSeq)
	assert.EqualValues(t, 2, replayed(t, s, file).Runs)

	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 10, drawn{t})
		h.Run(rapid.IntRange(5, 40).Draw(t, "steps"))
		st := h.State()
		for no := uint32(1); no <= st.Agents.Len(); no++ {
			replayed(t, h.Sim, exportAgent(t, h.Sim, no))
		}
	})
}

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// Whatever is cut off, changed, left out or put elsewhere is noticed.
func TestEveryDamageOfAnAgentExportIsNoticed(t *testing.T) {
	s := twins(t)
	file := exportAgent(t, s, 2)
	for n := range len(file) {
		_, err := logexport.VerifyAgent(bytes.NewReader(file[:n]))
		var broken *logexport.Broken
		require.ErrorAs(t, err, &broken, "cut at byte %d", n)
	}
	for n := range len(file) {
		damaged := bytes.Clone(file)
		damaged[n] ^= 0x20
		_, err := logexport.VerifyAgent(bytes.NewReader(damaged))
		require.Error(t, err, "byte %d", n)
	}
	_, err := logexport.VerifyAgent(bytes.NewReader(append(bytes.Clone(file), 0)))
	assert.ErrorContains(t, err, "follows the trailer")
	_, err = logexport.VerifyAgent(bytes.NewReader(export(t, nil, s.State().Log.Point)))
	assert.ErrorContains(t, err, "this is no agent export")
	_, err = logexport.Verify(bytes.NewReader(file))
	assert.ErrorContains(t, err, "this is no log export")
}

// A writer refuses what would give a file that no reader takes.
func TestSubjectWriterChecksTheChain(t *testing.T) {
	s := twins(t)
	log := s.Placed()
	w, err := logexport.NewSubjectWriter(io.Discard, headerOf(s, 2))
	require.NoError(t, err)
	assert.ErrorContains(t, w.Block(log.Order[1], log.Blocks[log.Order[1]]), "does not continue", "another agent's")
	assert.ErrorContains(t, w.Block(log.Order[4], log.Blocks[log.Order[4]]), "does not continue", "one is left out")
	require.NoError(t, w.Block(log.Order[2], log.Blocks[log.Order[2]]))
	assert.ErrorContains(t, w.Finish(), "the blocks end", "the last is missing")
	require.NoError(t, w.Block(log.Order[4], log.Blocks[log.Order[4]]))
	require.NoError(t, w.Finish())
	_, err = logexport.NewSubjectWriter(failing{}, headerOf(s, 2))
	assert.ErrorIs(t, err, errDisk)
	_, err = logexport.VerifyAgent(failing{})
	assert.ErrorIs(t, err, errDisk)
}

func FuzzVerifyAgent(f *testing.F) {
	s := twins(f)
	f.Add(exportAgent(f, s, 1))
	f.Add(exportAgent(f, s, 2))
	f.Fuzz(func(t *testing.T, file []byte) {
		sum, err := logexport.VerifyAgent(bytes.NewReader(file))
		if err == nil && (sum.Blocks == 0 || sum.LastSeq < sum.FirstSeq) {
			t.Fatalf("verified nonsense: %+v", sum)
		}
	})
}
