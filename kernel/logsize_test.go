package kernel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logsize"
)

func narrowLog(c *config.Config) { c.LogWarnBytes, c.LogErrorBytes = 3000, 6000 }

// logBytesOf adds up what the log has about an agent, from a record on.
func logBytesOf(s *kerneltest.Sim, agent uint32, from uint64) (bytes uint64) {
	for _, r := range s.All() {
		if r.Agent == agent && r.Seq >= from {
			bytes += uint64(r.Size())
		}
	}
	return bytes
}

func marks(s *kerneltest.Sim, kind bus.Kind) (all []*logsize.Mark) {
	for _, r := range s.All() {
		if bus.Kind(r.Kind) == kind {
			all = append(all, r.Content.(*logsize.Mark))
		}
	}
	return all
}

// LS-1, LS-2, LS-3: the kernel counts each agent's part of the log, says once that it has come to
// each limit, and at the second ends the agent's next tick, as PERMANENT; teardown is
// run. Others go on.
func TestLogLimit(t *testing.T) {
	s := kerneltest.New(t, 2, narrowLog)
	other := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, nil)
	id := s.Start(event.Define{
		Mode: "service", Teardown: kerneltest.JSON(t, literal),
		Program: kerneltest.JSON(t, `{"kind":"MAP","payload":{"over":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30],"as":"n","do":`+callEcho+`}}`),
	}, nil)
	for len(s.Pending) > 0 {
		s.Answer(true, "a value of some length, so that it does not take too long")
	}
	row := s.Row(id)
	require.Equal(t, lifecycle.Faulted, row.Lifecycle.State)
	require.Equal(t, failure.LogLimitExceeded, row.Lifecycle.Code)
	require.Equal(t, failure.Permanent, row.Lifecycle.Fault)
	require.True(t, row.Logged.Warned)
	require.True(t, row.Logged.Exceeded)
	no, _ := s.State().Find(row.Identity.ID)
	require.Equal(t, logBytesOf(s, no, 0), row.Logged.Bytes, "what is counted is what is there")
	warned, exceeded := marks(s, bus.AgentLogWarning), marks(s, bus.AgentLogExceeded)
	require.Len(t, warned, 1)
	require.Len(t, exceeded, 1)
	require.EqualValues(t, 3000, warned[0].Limit)
	require.EqualValues(t, 6000, exceeded[0].Limit)
	require.GreaterOrEqual(t, exceeded[0].Bytes, exceeded[0].Limit)
	require.Less(t, exceeded[0].Bytes, uint64(8000), "soon after it has come there")

	refused := s.Command(event.AgentSend, event.Send{Agent: id})
	require.Equal(t, failure.LogLimitExceeded, refused.Refusal.Code)
	s.Must(event.AgentSubmit, event.Submit{Agent: other})
	require.Equal(t, lifecycle.Active, s.StateOf(other))

	require.Empty(t, s.Kill(id).Refusal)
	s.Settle()
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	for _, r := range s.All() {
		require.NotEqual(t, bus.TeardownFailed, bus.Kind(r.Kind), "its teardown is run")
	}
	s.CheckFold()
	for at := 1; at <= len(s.Log); at += 7 {
		s.CheckReplay(at)
	}
	kerneltest.Restore(t, s.State(), s.Lookup)
}

// LS-3: an agent between ticks takes no instruction any more.
func TestLogLimitOfAnIdleAgent(t *testing.T) {
	s := kerneltest.New(t, 1, narrowLog)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, nil)
	var refused failure.Code
	for n := 0; refused == ""; n++ {
		require.Less(t, n, 200)
		refused = s.Command(event.AgentSubmit, event.Submit{Agent: id}).Refusal.Code
		s.Settle()
	}
	require.Equal(t, failure.LogLimitExceeded, refused)
	require.Equal(t, lifecycle.Active, s.StateOf(id), "nothing of it has failed")
}

// LS-1, EV-9: what was written before the cluster came to version 2 does not count.
func TestLogCountsFromVersion2(t *testing.T) {
	s := kerneltest.New(t, 1, kerneltest.Version1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, literal)}, nil)
	require.Zero(t, s.Row(id).Logged)
	require.Empty(t, s.Upgrade().Refusal)
	require.Zero(t, s.Row(id).Logged)
	s.Must(event.AgentSubmit, event.Submit{Agent: id})
	no, row := s.State().Find(s.Row(id).Identity.ID)
	require.Equal(t, logBytesOf(s, no, s.State().Config.VersionSeq), row.Logged.Bytes)
	require.Positive(t, row.Logged.Bytes)
	s.CheckFold()
}
