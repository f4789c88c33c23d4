package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/interning"
)

// CheckCounts counts again from the rows what the tables keep as numbers: users
// of interned bodies, reserved places, the global queue, deadlines.
func (s *Sim) CheckCounts() {
	s.T.Helper()
	st := s.State()
	s.checkInterned(st)
	s.checkQueue(st)
	s.checkDeadlines(st)
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
		for _, body := range [...]uint32{row.Identity.Program, row.Identity.Grants, row.Identity.Labels, row.Identity.Env} {
			use(body)
		}
		// An agent's own program is counted once, however often it is queued.
		submitted := func(program uint32) {
			if program != row.Identity.Program {
				use(program)
			}
		}
		for i := range row.Execution.Queue {
			submitted(row.Execution.Queue[i].Program)
		}
		if row.Execution.Current != nil {
			submitted(row.Execution.Current.Program)
		}
	}
	var bytes uint64
	counted := make(map[uint32]uint32)
	st.Interned.All(func(e *interning.Entry) bool {
		counted[e.No] = e.Users
		bytes += uint64(len(e.Body))
		require.Equal(s.T, interning.DigestOf(e.Class, e.Body), e.Digest)
		return true
	})
	require.Equal(s.T, users, counted, "users of interned bodies, by number")
	require.Equal(s.T, bytes, st.Interned.Bytes)
}

// checkQueue: exactly the ACTIVE agents with something to run are queued, each
// once, and every agent that is spawned and not terminated holds a place (EX-4).
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
		require.Equal(s.T, at == lifecycle.Active && row.Execution.Runnable(), row.Execution.Place != 0, "agent %d, %s", no, at)
		require.LessOrEqual(s.T, uint32(len(row.Execution.Queue)), st.Config.InstructionQueue)
	}
	require.Equal(s.T, reserved, st.Running.Reserved)
	require.LessOrEqual(s.T, reserved, st.Config.GlobalQueue)
}

// checkDeadlines: every wait ends (LC-12). A WAITING agent has either one call
// with its timer or a sleep; a RESUMABLE one and a TERMINATED one that is no
// tombstone yet have a timer of their own; nothing else has any.
func (s *Sim) checkDeadlines(st *state.State) {
	s.T.Helper()
	own := make(map[uint32]timers.Timer)
	calls := make(map[tools.Key]timers.Timer)
	st.Timers.All(func(t timers.Timer) bool {
		require.LessOrEqual(s.T, t.ID, st.Timers.Next)
		if t.Purpose == timers.CallDeadline {
			calls[tools.Key{Agent: t.Agent, Tick: t.Tick, Call: t.Call}] = t
			return true
		}
		require.Zero(s.T, own[t.Agent], "an agent's state has two timers")
		own[t.Agent] = t
		return true
	})
	outbox := make(map[uint32]int)
	st.Tools.All(func(c *tools.Call) bool {
		outbox[c.Key.Agent]++
		require.Equal(s.T, c.Timer, calls[c.Key].ID, "a call's deadline has its timer")
		require.Equal(s.T, c.Deadline, calls[c.Key].Deadline)
		return true
	})
	require.Len(s.T, calls, st.Tools.Len(), "a timer of a call that is over")
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := st.Agents.Get(no)
		require.Equal(s.T, timers.Row{Deadline: own[no].Deadline, ID: own[no].ID}, row.Timer, "agent %d", no)
		var purpose timers.Purpose
		switch row.Lifecycle.State {
		case lifecycle.Waiting:
			if outbox[no] == 0 {
				purpose = timers.SleepOver
			}
			require.LessOrEqual(s.T, outbox[no], 1)
		case lifecycle.Resumable:
			purpose = timers.ResumableOver
		case lifecycle.Terminated:
			if !row.Identity.Archived {
				purpose = timers.RetentionOver
			}
		}
		if row.Lifecycle.State != lifecycle.Waiting {
			require.Zero(s.T, outbox[no], "agent %d has a call and does not wait", no)
		}
		require.Equal(s.T, purpose, own[no].Purpose, "agent %d, %s", no, row.Lifecycle.State)
	}
}
