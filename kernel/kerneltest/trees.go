package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/stretchr/testify/require"
)

// checkTrees: the lists of children are what the children say, in order; nobody
// is below itself; depth falls on the way down; and whatever rests on a token
// that is void is void (INV-08, DE-2, LC-10).
func (s *Sim) checkTrees(st *state.State) {
	s.T.Helper()
	rows := tokens(st)
	children := make(map[uint32][]uint32)
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		d := rows(no)
		if d.Parent == 0 {
			continue
		}
		children[d.Parent] = append(children[d.Parent], no)
		require.Less(s.T, d.Parent, no, "a parent is there before its child")
		above := rows(d.Parent)
		require.Less(s.T, d.Depth, above.Depth, "agent %d", no)
		if above.Expires != 0 {
			require.NotZero(s.T, d.Expires)
			require.LessOrEqual(s.T, d.Expires, above.Expires, "agent %d", no)
		}
		if inForce, _, _ := delegation.InForce(rows, d.Parent, st.Clock); !inForce {
			inForce, _, _ = delegation.InForce(rows, no, st.Clock)
			require.False(s.T, inForce, "agent %d's token outlives agent %d's", no, d.Parent)
		}
	}
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		var listed []uint32
		delegation.Children(rows, no, func(child uint32) bool {
			listed = append(listed, child)
			return true
		})
		require.Equal(s.T, children[no], listed, "children of agent %d", no)
	}
}

func tokens(st *state.State) delegation.Rows {
	return func(no uint32) *delegation.Row {
		if row := st.Agents.Get(no); row != nil {
			return &row.Delegation
		}
		return nil
	}
}

// checkRequests: a request that is waited for counts the children that live,
// unless its parent is void: then nobody is told (DE-3, LC-10).
func (s *Sim) checkRequests(st *state.State) {
	s.T.Helper()
	st.Delegation.All(func(o *delegation.Open) bool {
		var alive uint32
		for no := o.First; no < o.First+o.Count; no++ {
			child := st.Agents.Get(no)
			require.Equal(s.T, [...]uint64{uint64(o.Parent), o.Tick, uint64(o.Call)},
				[...]uint64{uint64(child.Delegation.Parent), child.Delegation.Tick, uint64(child.Delegation.Call)})
			if child.Lifecycle.State != lifecycle.Terminated {
				alive++
			}
		}
		if inForce, _, _ := delegation.InForce(tokens(st), o.Parent, st.Clock); inForce {
			require.Equal(s.T, alive, o.Open, "request %d of agent %d", o.Call, o.Parent)
		}
		tick := st.Agents.Get(o.Parent).Execution.Current
		require.NotNil(s.T, tick, "agent %d waits in no tick", o.Parent)
		require.Equal(s.T, tick.Seq, o.Tick)
		return true
	})
	st.Escalations.All(func(e *permissions.Escalation) bool {
		require.Equal(s.T, permissions.CallDigest(e.Agent, e.Tick, e.Call, e.Tool, e.Args), e.Digest)
		if e.Handler != 0 {
			require.Equal(s.T, st.Agents.Get(e.Agent).Delegation.Parent, e.Handler)
		}
		return true
	})
	require.LessOrEqual(s.T, uint32(st.Escalations.Len()), st.Config.MaxEscalations)
	require.LessOrEqual(s.T, uint32(st.Tools.Len()), st.Config.MaxOutbox)
}

// checkLeftovers: nothing is left of a TERMINATED agent but its outcome and its
// memory, and of a tombstone not even those (LC-8).
func (s *Sim) checkLeftovers(st *state.State) {
	s.T.Helper()
	left := make(map[uint32]int)
	st.Tools.All(func(c *tools.Call) bool { left[c.Key.Agent]++; return true })
	st.Escalations.All(func(e *permissions.Escalation) bool { left[e.Agent]++; left[e.Handler]++; return true })
	st.Delegation.All(func(o *delegation.Open) bool { left[o.Parent]++; return true })
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		row := st.Agents.Get(no)
		if row.Lifecycle.State != lifecycle.Resumable {
			require.Nil(s.T, row.Memory.Snapshot, "agent %d, %s", no, row.Lifecycle.State)
		}
		if row.Lifecycle.State != lifecycle.Terminated {
			require.False(s.T, row.Identity.Archived)
			continue
		}
		require.Zero(s.T, left[no], "agent %d is over", no)
		require.Nil(s.T, row.Execution.Current)
		require.Empty(s.T, row.Execution.Queue)
		require.Zero(s.T, row.Lifecycle.Suspending)
		if row.Identity.Archived {
			require.Nil(s.T, row.Execution.Result)
			require.Zero(s.T, row.Memory)
			require.Zero(s.T, row.Mailbox)
			require.Zero(s.T, row.Permissions)
		}
	}
}
