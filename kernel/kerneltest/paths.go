package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/stretchr/testify/require"
)

// CheckPaths reads every agent's transitions from the log: each is a row of
// the table, taken from where the one before it led, by somebody who may; what
// was refused is no row; and the state's rows say the same (LC-1, LC-2, LC-8).
func (s *Sim) CheckPaths() {
	s.T.Helper()
	rows := make(map[uint32]*lifecycle.Row)
	at := make(map[uint32]runs.State)
	for i, raw := range s.Blocks {
		block, err := logging.Decode(raw)
		require.NoError(s.T, err)
		for _, r := range Decode(s.T, raw) {
			s.runPaths(at, r, i+1)
			if rows[r.Agent] == nil {
				rows[r.Agent] = &lifecycle.Row{}
			}
			row := rows[r.Agent]
			switch e := r.Content.(type) {
			case *lifecycle.Event:
				to, ok := lifecycle.Decide(e.From, e.Trigger, e.Caller)
				require.True(s.T, ok, "index %d: %s %s by %s is no row", i+1, e.From, e.Trigger, e.Caller)
				require.Equal(s.T, to, e.To)
				require.Equal(s.T, row.State, e.From, "index %d: agent %d is elsewhere", i+1, r.Agent)
				row.Apply(bus.At{Seq: r.Seq, Index: block.Index, Now: block.ClockMillis}, e)
			case *lifecycle.SuspendRequested:
				require.Equal(s.T, lifecycle.Waiting, row.State, "index %d: suspended later, and does not wait", i+1)
				row.ApplySuspendRequested(e)
			case *lifecycle.Reclassified:
				require.Equal(s.T, failure.Permanent, row.Fault, "index %d: a fault that needed no other class", i+1)
				row.ApplyReclassified()
			case *lifecycle.Rejection:
				require.Equal(s.T, row.State, e.From)
				if e.Trigger == 0 {
					require.Nil(s.T, lifecycle.KillPath(e.From))
					continue
				}
				_, ok := lifecycle.Decide(e.From, e.Trigger, e.Caller)
				require.False(s.T, ok, "index %d: %s %s by %s was refused and is a row", i+1, e.From, e.Trigger, e.Caller)
			}
		}
	}
	st := s.State()
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		require.NotNil(s.T, rows[no])
		require.Equal(s.T, *rows[no], st.Agents.Get(no).Lifecycle, "agent %d", no)
	}
}

// CheckTimers reads the timers from the log: each is set once, under the next
// number, and cleared once, by the time it has (EV-6).
func (s *Sim) CheckTimers() {
	s.T.Helper()
	set := make(map[uint64]int64)
	var last uint64
	for i, raw := range s.Blocks {
		for _, r := range Decode(s.T, raw) {
			switch b := r.Content.(type) {
			case *timers.Set:
				last++
				require.Equal(s.T, last, b.Timer.ID, "index %d", i+1)
				set[last] = b.Timer.Deadline
			case *timers.Cleared:
				deadline, there := set[b.ID]
				require.True(s.T, there, "index %d: timer %d is cleared and was not there", i+1, b.ID)
				require.Equal(s.T, deadline, b.Deadline)
				delete(set, b.ID)
			}
		}
	}
	st := s.State()
	require.Len(s.T, set, st.Timers.Len())
}

// ticks is what CheckTicks knows of an agent while it reads the log.
type ticks struct {
	last, current uint64
	run, step     uint32
	call          uint32
	open          bool // started, its exit not seen yet
}

// CheckTicks reads every agent's ticks from the log: tickSeq increases by one
// and is never reused, a continuation keeps it, steps and calls are numbered
// through all runs of a tick, and every run has exactly one exit (EX-1, EX-3).
func (s *Sim) CheckTicks() {
	s.T.Helper()
	agents := make(map[uint32]*ticks)
	for i, raw := range s.Blocks {
		for _, r := range Decode(s.T, raw) {
			if agents[r.Agent] == nil {
				agents[r.Agent] = &ticks{}
			}
			s.checkTick(agents[r.Agent], r, i+1)
		}
		for no, a := range agents {
			require.False(s.T, a.open, "index %d: a tick of agent %d has no exit", i+1, no)
		}
	}
}

func (s *Sim) checkTick(a *ticks, r Record, index int) {
	s.T.Helper()
	exit := func() {
		require.True(s.T, a.open, "index %d: %s without a tick", index, r.Name)
		require.Equal(s.T, a.current, r.Tick)
		a.open = false
	}
	switch b := r.Content.(type) {
	case *execution.StartedBody:
		require.False(s.T, a.open)
		if b.Run == 1 {
			require.Equal(s.T, a.last+1, r.Tick, "index %d: tickSeq", index)
			*a = ticks{last: r.Tick, current: r.Tick}
		}
		require.Equal(s.T, a.current, r.Tick, "index %d: a continuation keeps its tickSeq", index)
		require.Equal(s.T, a.run+1, b.Run)
		a.run, a.open = b.Run, true
	case *execution.ForkedBody:
		require.Zero(s.T, *a, "index %d: a fork has no ticks of its own before", index)
		*a = ticks{last: b.LastTick}
		if t := b.Tick; t != nil {
			a.current, a.run, a.step, a.call = b.LastTick, t.Runs, t.Steps, t.Calls
		}
	case execution.StepBody:
		require.True(s.T, a.open)
		a.step++
		require.Equal(s.T, a.step, r.Step, "index %d: steps are numbered through", index)
	case *execution.PendingBody:
		exit()
		if len(b.Requests) > 0 {
			require.Equal(s.T, a.call+1, b.First, "index %d: callIndex rises by one", index)
			a.call += uint32(len(b.Requests))
		}
		require.Equal(s.T, a.step, b.Steps)
	case *execution.CompletedBody:
		exit()
		require.Equal(s.T, a.step, b.Steps)
	case *execution.FailedBody:
		// A tick that waits, or none at all, can be failed from outside.
		a.open = false
	}
}

// CheckHistories follows each agent's blocks backwards through the log: they
// are exactly the blocks that have a record of it (mechanics: "The execution
// log", 2).
func (s *Sim) CheckHistories() {
	s.T.Helper()
	want := make(map[uint32][]uint64) // agent: pointers, oldest first
	blocks := make(map[uint64]*logging.Block)
	var at uint64
	for _, raw := range s.Blocks {
		block, err := logging.Decode(raw)
		require.NoError(s.T, err)
		blocks[logging.PointerTo(at)] = &block
		seen := make(map[uint32]bool)
		for _, r := range Decode(s.T, raw) {
			if r.Agent != 0 && !seen[r.Agent] {
				seen[r.Agent] = true
				want[r.Agent] = append(want[r.Agent], logging.PointerTo(at))
			}
		}
		at += uint64(len(raw))
	}
	st := s.State()
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		var got []uint64
		for pointer := st.Agents.Get(no).LastBlock; pointer != 0; {
			got = append([]uint64{pointer}, got...)
			require.NotNil(s.T, blocks[pointer])
			previous, touched := blocks[pointer].Previous(no)
			require.True(s.T, touched)
			pointer = previous
		}
		require.Equal(s.T, want[no], got, "agent %d", no)
	}
}
