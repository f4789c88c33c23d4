package authority_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// read takes blocks in.
func read(t kerneltest.TB, tables *authority.Tables, blocks [][]byte) {
	t.Helper()
	for _, raw := range blocks {
		block, err := logging.Decode(raw)
		require.NoError(t, err)
		for records := block.Records(); records.Next(); {
			r := records.Record
			body, wanted := authority.Decode(bus.Kind(r.Kind), r.Body)
			if !wanted {
				continue
			}
			require.NotNil(t, body)
			tables.Take(r.Seq, &bus.Record{Kind: bus.Kind(r.Kind), Agent: r.Agent, Tick: r.Tick, Step: r.Step, Body: body})
		}
	}
}

// LC-10, DE-1: after any history the tables say what the kernel's state says:
// who lives, on whom each rests, under which grants, and whose token is in force,
// now and later.
func TestTablesAreTheStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 20, drawn{t})
		tables, done := authority.New(), 0
		for range rapid.IntRange(1, 8).Draw(t, "looks") {
			h.Run(rapid.IntRange(1, 12).Draw(t, "steps"))
			read(t, tables, h.Blocks[done:])
			done = len(h.Blocks)
			compare(t, tables, h.State())
		}
	})
}

func compare(t *rapid.T, tables *authority.Tables, s *state.State) {
	rows := func(no uint32) *delegation.Row {
		if row := s.Agents.Get(no); row != nil {
			return &row.Delegation
		}
		return nil
	}
	require.Equal(t, s.Agents.Len(), tables.Last())
	alive := make(map[uint32]bool) // and whoever these rest on
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		if s.StateOf(no) != lifecycle.Terminated {
			for at := no; at != 0; at = s.Agents.Get(at).Delegation.Parent {
				alive[at] = true
			}
		}
	}
	require.Equal(t, len(alive), tables.Kept())
	for no := uint32(1); no <= s.Agents.Len(); no++ {
		a, row := tables.Agent(no), s.Agents.Get(no)
		if !alive[no] {
			require.Nil(t, a)
			continue
		}
		require.NotNil(t, a)
		require.Equal(t, row.Identity.ID, a.ID)
		require.Equal(t, row.Lifecycle.State, a.State)
		require.Equal(t, row.Permissions.Grants, a.Grants)
		require.Equal(t, row.Delegation.Parent, a.Parent())
		require.Equal(t, row.Delegation.Depth, a.Depth)
		for _, later := range []int64{0, 900, 5000} {
			ok, code, holder := delegation.InForce(rows, no, s.Clock+later)
			got, why, who := a.InForce(s.Clock + later)
			require.Equal(t, ok, got)
			require.Equal(t, code, why)
			if !ok {
				require.Equal(t, holder, who.No)
			}
		}
		set, known := tables.Set(a.Grants)
		require.True(t, known)
		if body := s.Interned.Body(a.Grants); body != nil {
			list, ok := event.DecodeBody[[]permissions.Grant](body)
			require.True(t, ok)
			require.Equal(t, *list, set.Grants())
		}
	}
}

const family = `{"kind":"DELEGATE","payload":{"children":[{"program":{"kind":"CALL","payload":{"tool":"echo"}},
	"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo"},{"effect":"ALLOW","action":"memory.read","resource":"parent/a"}]}]}}`

// PE-2: the strictest level decides, read upwards, and the nearest among equals;
// other grants stand in the place of whose they are for.
func TestJudge(t *testing.T) {
	s := kerneltest.New(t, 1)
	grants := append(kerneltest.Everything(), permissions.Grant{Effect: permissions.Escalate, Action: "memory.read", Resource: "self/a"})
	s.Start(event.Define{Grants: grants, Program: kerneltest.JSON(t, family)}, nil)
	tables := authority.New()
	read(t, tables, s.Blocks)
	parent, child := tables.Agent(1), tables.Agent(2)
	compile := func(grants ...permissions.Grant) *permissions.Set {
		set, refusal := permissions.Compile(grants)
		require.Nil(t, refusal)
		return set
	}
	nothing := authority.Instead{Set: compile(), For: func(a *authority.Agent) bool { return a == parent }}
	all := authority.Instead{Set: compile(kerneltest.Everything()...), For: func(*authority.Agent) bool { return true }}
	for _, test := range []struct {
		action, resource string
		instead          authority.Instead
		want             authority.Answer
	}{
		{"tool.call", "echo", authority.Instead{}, authority.Answer{Effect: permissions.Allow, Grant: 0, List: child.Grants}},
		{"tool.call", "other", authority.Instead{}, authority.Answer{Effect: permissions.Deny, Grant: -1, List: child.Grants}},
		{"memory.read", "parent/a", authority.Instead{}, authority.Answer{Effect: permissions.Escalate, Grant: 4, List: parent.Grants, Level: 1}},
		{"tool.call", "echo", nothing, authority.Answer{Effect: permissions.Deny, Grant: -1, Level: 1}},
		{"tool.call", "other", nothing, authority.Answer{Effect: permissions.Deny, Grant: -1, List: child.Grants}},
		{"tool.call", "other", all, authority.Answer{Effect: permissions.Allow, Grant: 0}},
	} {
		got := tables.Judge(child, test.action, test.resource, kerneltest.Start, test.instead)
		got.Set = nil
		assert.Equal(t, test.want, got, "%s %s", test.action, test.resource)
	}
	require.Equal(t, permissions.Deny, tables.Judge(tables.Agent(1), "x", "y", 0, authority.Instead{}).Effect)
}

// What records say that cannot be does no harm: numbers that nobody has, lists
// that are none, a parent that comes after its child.
func TestNonsenseIsTakenIn(t *testing.T) {
	tables := authority.New()
	for i, r := range []bus.Record{
		{Kind: bus.TokenRevoked, Agent: 9, Body: &delegation.TokenRevoked{Code: failure.TokenRevoked}},
		{Kind: bus.Lifecycle, Agent: 9, Body: &lifecycle.Event{To: lifecycle.Terminated}},
	} {
		tables.Take(uint64(i), &r)
	}
	for _, kind := range []bus.Kind{bus.Interned, bus.AgentDefined, bus.TokenIssued, bus.Lifecycle} {
		body, wanted := authority.Decode(kind, []byte{1})
		require.True(t, wanted)
		require.Nil(t, body, fmt.Sprint(kind))
	}
	_, wanted := authority.Decode(bus.Step, nil)
	require.False(t, wanted)
	_, known := tables.Set(3)
	require.False(t, known)
	require.Zero(t, tables.Kept())
}
