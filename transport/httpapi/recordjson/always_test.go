package recordjson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// inMemory is the history that a simulation has.
type inMemory struct{ sim *kerneltest.Sim }

func (m inMemory) block(position uint64) logging.Block {
	at := uint64(0)
	for _, raw := range m.sim.Blocks {
		if at == position {
			block, err := logging.Decode(raw)
			require.NoError(m.sim.T, err)
			return block
		}
		at += uint64(len(raw))
	}
	require.Fail(m.sim.T, "no block begins there")
	return logging.Block{}
}

func (m inMemory) AgentBlocks(agent uint32, last uint64, visit segment.Visit) error {
	for last != 0 {
		block := m.block(last - 1)
		if !visit(last-1, &block) {
			return nil
		}
		last, _ = block.Previous(agent)
	}
	return nil
}

func (m inMemory) ReadFrom(seq uint64, visit segment.Visit) (uint64, error) {
	at := uint64(0)
	for _, raw := range m.sim.Blocks {
		if block := m.block(at); block.LastSeq() >= seq && !visit(at, &block) {
			return block.LastSeq() + 1, nil
		}
		at += uint64(len(raw))
	}
	return seq, nil
}

func (m inMemory) BlockAt(position uint64) (logging.Block, error) { return m.block(position), nil }

// renderedBlock is the JSON of every record of a block.
func renderedBlock(t kerneltest.TB, r *Renderer, s *state.State, raw []byte) []string {
	t.Helper()
	return selected(t, r, s, raw, Select{})
}

func selected(t kerneltest.TB, r *Renderer, s *state.State, raw []byte, want Select) (all []string) {
	t.Helper()
	block, err := logging.Decode(raw)
	require.NoError(t, err)
	require.NoError(t, r.Block(s, &block, &want, func(record *api.Record) bool {
		encoded, err := json.Marshal(record)
		require.NoError(t, err)
		all = append(all, string(encoded))
		return true
	}))
	require.Len(t, all, int(block.Count))
	return all
}

// CL-5: what a record is rendered as depends on the log alone. Right after its
// event, when the agents that it names live, or long after they have ended and are
// tombstones; by the server that has seen it all, or by one that knows no more than
// a snapshot says and has none of the history before.
func TestRecordsAreAlwaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 20, drawn{t})
		there := New(inMemory{h.Sim})
		var then [][]string
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			h.Step()
			for len(then) < len(h.Blocks) {
				if len(then) == len(h.Blocks)-1 { // else the state is further than that event
					then = append(then, renderedBlock(t, there, h.State(), h.Blocks[len(then)]))
					continue
				}
				then = append(then, nil)
			}
		}
		restored := kerneltest.Restore(t, h.State(), h.Lookup).Publish()
		for i, want := range then {
			if want == nil {
				continue
			}
			require.Equal(t, want, renderedBlock(t, there, h.State(), h.Blocks[i]), "block %d, by the same server", i)
			require.Equal(t, want, renderedBlock(t, New(nil), restored, h.Blocks[i]), "block %d, after a snapshot", i)
		}
	})
}

// Notes come and go only with the bounds of what is remembered and searched. In a
// short history everything is found, whatever is gone from the state; and whether
// they are asked for changes nothing else of a record.
func TestNotesAreFound(t *testing.T) {
	notes := 0
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 20, drawn{t})
		there := New(inMemory{h.Sim})
		var then [][]string
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			h.Step()
			for i := len(then); i < len(h.Blocks); i++ {
				then = append(then, selected(t, there, h.State(), h.Blocks[i], Select{Notes: true}))
			}
		}
		for i, want := range then {
			fresh := New(inMemory{h.Sim})
			require.Equal(t, want, selected(t, fresh, h.State(), h.Blocks[i], Select{Notes: true}))
			for j, record := range renderedBlock(t, fresh, h.State(), h.Blocks[i]) {
				var noted api.Record
				require.NoError(t, json.Unmarshal([]byte(want[j]), &noted))
				if noted.Notes != nil {
					notes++
				}
				var judged struct{ Grant *int32 }
				require.NoError(t, json.Unmarshal(noted.Body, &judged))
				if judged.Grant != nil && *judged.Grant >= 0 && noted.Kind != kernel.KindName(bus.GrantRevoked) {
					require.NotNil(t, noted.Notes, want[j])
				}
				noted.Notes = nil
				encoded, err := json.Marshal(noted)
				require.NoError(t, err)
				require.Equal(t, record, string(encoded))
			}
		}
	})
	require.NotZero(t, notes)
}

// far is a history in which nothing is found.
type far struct {
	inMemory
	looks int
}

func (f *far) AgentBlocks(_ uint32, _ uint64, visit segment.Visit) error {
	for block := f.block(0); visit(0, &block); {
		f.looks++
	}
	return nil
}

// A search for a note ends, and what was searched for in vain is not searched for
// again.
func TestSearchesAreBounded(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	history := &far{inMemory: inMemory{s}}
	v := view{renderer: New(history), state: s.State(), block: new(logging.Block), annotated: true}
	for range 2 {
		require.Empty(t, v.kindsOf(77, 1))
		require.Equal(t, maxSearched-2, history.looks) // but the definition's block, and the last, after which it ends
	}
	require.Equal(t, []string{"LITERAL"}, v.kindsOf(s.Row(id).Identity.Program, 1))
}

// behind is a history that the node does not have.
type behind struct{ inMemory }

func (behind) AgentBlocks(uint32, uint64, segment.Visit) error {
	return &segment.HistoryBehindError{FirstSeq: 9}
}

func (behind) ReadFrom(seq uint64, _ segment.Visit) (uint64, error) {
	return seq, &segment.HistoryBehindError{FirstSeq: 9}
}

// What is not in the state is looked for again when the history could not be read:
// the node gets it back. What was found is remembered.
func TestBodiesAreLookedForAgain(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	program, grants := s.Row(id).Identity.Program, s.Row(id).Identity.Grants
	s.Pass(s.State().Config.RetentionMillis + 1)
	require.Nil(t, s.State().Interned.Get(program), "the agent is a tombstone")
	v := view{renderer: New(behind{inMemory{s}}), state: s.State(), block: new(logging.Block), annotated: true}
	require.Empty(t, v.kindsOf(program, 1))
	require.Empty(t, v.listOf(grants, 1))
	for _, history := range []History{inMemory{s}, behind{inMemory{s}}} {
		v.renderer.history = history
		require.Equal(t, []string{"LITERAL"}, v.kindsOf(program, 1))
		require.Equal(t, kerneltest.AllowAll(), v.listOf(grants, 1))
	}
}

// An event may name a number that no agent has. It goes on to be nobody's when an
// agent gets it.
func TestNumbersAreNobodysBefore(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Node(event.ToolResult, event.Result{Agent: 1, Tick: 1, Call: 1, OK: true, Value: value.True})
	at := len(s.Blocks) - 1
	then := renderedBlock(t, New(nil), s.State(), s.Blocks[at])
	id := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	require.Equal(t, then, renderedBlock(t, New(nil), s.State(), s.Blocks[at]))
	require.NotContains(t, strings.Join(then, ""), id)
	require.Contains(t, strings.Join(renderedBlock(t, New(nil), s.State(), s.Blocks[at+1]), ""), `"agent_id":"`+id)
}
