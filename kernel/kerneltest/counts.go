package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// CheckCounts counts again from the rows what the tables keep as numbers: users
// of interned bodies, reserved places, the global queue, deadlines, the totals
// of memory, the trees of agents.
func (s *Sim) CheckCounts() {
	s.T.Helper()
	st := s.State()
	s.checkInterned(st)
	s.checkQueue(st)
	s.checkDeadlines(st)
	s.checkMemory(st)
	s.checkTrees(st)
	s.checkRequests(st)
	s.checkLeftovers(st)
	s.checkRuns(st)
	s.checkRevisions(st)
}

// checkRevisions: a revision is kept for exactly the calls that run with it, or
// because it is its tool's newest.
func (s *Sim) checkRevisions(st *state.State) {
	s.T.Helper()
	calls := make(map[uint64]uint32)
	st.Tools.All(func(c *tools.Call) bool {
		if c.Revision != 0 {
			calls[c.Revision]++
		}
		return true
	})
	counted := make(map[uint64]uint32)
	st.Tools.AllRevisions(func(r *tools.Revision) bool {
		newest, ok := st.Tools.Registered(r.Manifest.Name)
		require.Equal(s.T, ok && newest.No == r.No, r.Registered, "revision %d", r.No)
		require.True(s.T, r.Registered || r.Calls > 0, "revision %d is nobody's", r.No)
		if r.Calls > 0 {
			counted[r.No] = r.Calls
		}
		return true
	})
	require.Equal(s.T, calls, counted, "calls by revision")
	require.LessOrEqual(s.T, st.Tools.Revisions(), int(st.Config.MaxTools)+1)
}

// checkInterned: every body has exactly the users that rows say, and none has
// no user.
func (s *Sim) checkInterned(st *state.State) {
	s.T.Helper()
	users := make(map[uint32]uint32)
	use := func(no uint32) {
		if no != 0 {
			users[no]++
		}
	}
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := st.Agents.Get(no)
		id := &row.Identity
		for _, body := range id.Bodies() {
			use(body)
		}
		// A list that a revoked grant left behind is the agent's second one.
		if now := row.Permissions.Grants; now != id.Grants {
			use(now)
		}
		// An agent's own program is counted once, however often it is queued.
		submitted := func(program uint32) {
			if program != id.Program {
				use(program)
			}
		}
		for i := range row.Execution.Queue {
			submitted(row.Execution.Queue[i].Program)
		}
		if tick := row.Execution.Current; tick != nil && !tick.Teardown {
			submitted(tick.Program)
		}
	}
	st.Runs.All(func(r *runs.Run) bool {
		for _, program := range r.Programs() {
			use(program)
		}
		return true
	})
	var bytes uint64
	counted := make(map[uint32]uint32)
	st.Interned.All(func(e *interning.Entry, users uint32) bool {
		counted[e.No] = users
		bytes += uint64(len(e.Body))
		require.Equal(s.T, interning.DigestOf(e.Class, e.Body), e.Digest)
		return true
	})
	require.Equal(s.T, users, counted, "users of interned bodies, by number")
	require.Equal(s.T, bytes, st.Interned.Bytes)
}

// checkQueue: exactly the agents with something to run are queued, each once,
// and every agent that is spawned and not terminated holds a place (EX-4).
func (s *Sim) checkQueue(st *state.State) {
	s.T.Helper()
	places := make(map[uint32]uint64)
	st.Running.All(func(place uint64, agent uint32) bool {
		require.Zero(s.T, places[agent], "an agent is queued twice")
		places[agent] = place
		return true
	})
	var reserved uint32
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := st.Agents.Get(no)
		if row.Execution.Reserved {
			reserved++
		}
		at := row.Lifecycle.State
		require.Equal(s.T, at != lifecycle.Defined && at != lifecycle.Terminated, row.Execution.Reserved, "agent %d, %s", no, at)
		require.Equal(s.T, places[no], row.Execution.Place, "agent %d", no)
		may, must := queues(row)
		if row.Execution.Place != 0 {
			require.True(s.T, may, "agent %d, %s, is queued", no, at)
		} else {
			require.False(s.T, must, "agent %d, %s, is not queued", no, at)
		}
		require.LessOrEqual(s.T, uint32(len(row.Execution.Queue)), st.Config.InstructionQueue+1) // one that goes on anew is not refused
	}
	require.Equal(s.T, reserved, st.Running.Reserved)
	require.LessOrEqual(s.T, reserved, st.Config.GlobalQueue)
}

// queues tells whether an agent may have a place in the global queue, and
// whether it must have one. One that lost its token has a place for the tick
// that begins with the failure, though it has nothing to run (LC-10).
func queues(row *state.Row) (may, must bool) {
	switch row.Lifecycle.State {
	case lifecycle.Active:
		must = row.Execution.Runnable()
		return must || row.Delegation.Revoked != "", must
	case lifecycle.Completing:
		must = row.Identity.Teardown != 0 && !row.Execution.Torn && (row.Execution.Current == nil || row.Execution.Runnable())
	}
	return must, must
}

// checkMemory: the totals are the sums, and nobody holds more than the limits.
func (s *Sim) checkMemory(st *state.State) {
	s.T.Helper()
	type total struct{ keys, bytes uint64 }
	totals := make(map[uint32]*total)
	add := func(e *memory.Entry) bool {
		if totals[e.Agent] == nil {
			totals[e.Agent] = &total{}
		}
		totals[e.Agent].keys++
		totals[e.Agent].bytes += uint64(len(e.Namespace) + len(e.Key) + len(e.Value))
		require.Less(s.T, e.Version, st.Log.NextSeq)
		require.NotZero(s.T, e.Version)
		return true
	}
	st.Memory.AllShared(add)
	st.Memory.All(add)
	of := func(agent uint32) total {
		if found := totals[agent]; found != nil {
			return *found
		}
		return total{}
	}
	require.Equal(s.T, of(0), total{st.Memory.SharedKeys, st.Memory.SharedBytes}, "shared memory")
	require.LessOrEqual(s.T, st.Memory.SharedKeys, uint64(st.Config.MaxSharedKeys))
	require.LessOrEqual(s.T, st.Memory.SharedBytes, st.Config.MaxSharedBytes)
	var all uint64
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := &st.Agents.Get(no).Memory
		require.Equal(s.T, of(no), total{uint64(row.Keys), row.Bytes}, "memory of agent %d", no)
		all += row.Bytes
	}
	require.Equal(s.T, all, st.Memory.PersistentBytes)
}
