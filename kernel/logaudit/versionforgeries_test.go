package logaudit_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// risen: a cluster begins at kernel version 1, where a command of version 2 is refused,
// and rises to 2.
func risen(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1, kerneltest.Version1)
	require.Equal(t, failure.VersionTooLow, s.Bootstrap().Refusal.Code)
	s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}, nil)
	require.Empty(t, s.Upgrade().Refusal)
	s.Pulse()
	return s
}

// grown: agents 1 and 2 come to the limits of their part of the log, agent 1 by little and
// little, agent 2 when it is defined; the tick of agent 1 that goes on then fails, and
// that of agent 2 at its beginning. Agent 3 does little.
func grown(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.LogWarnBytes, c.LogErrorBytes = 3000, 6000 })
	one := s.Start(event.Define{Mode: "service", Grants: kerneltest.Everything(),
		Program: kerneltest.JSON(t, `{"kind":"MAP","payload":{"over":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],"as":"n","do":{"kind":"CALL","payload":{"tool":"echo"}}}}`)}, nil)
	for len(s.Pending) > 0 {
		s.Answer(true, strings.Repeat("a value that takes its time ", 10))
	}
	require.Equal(t, failure.LogLimitExceeded, s.Row(one).Lifecycle.Code)
	two := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":"`+strings.Repeat("long ", 1300)+`"}}`)}, nil)
	s.Must(event.AgentDefine, event.Define{Mode: "service"})
	require.Equal(t, lifecycle.Active, s.StateOf(two))
	require.Equal(t, failure.LogLimitExceeded, s.Command(event.AgentSubmit, event.Submit{Agent: two}).Refusal.Code)
	s.Kill(one)
	s.Pulse()
	return s
}

// versionForgeries are lies about kernel versions, and about what version 2 brought
// (EV-9, LS-2).
var versionForgeries = []untruth{
	{"a version that is left out", logaudit.Version, "risen", func(f *forgery) *written {
		r := f.nth(bus.KernelUpgraded, 0, 0)
		edit(f, r, func(b *event.Upgraded) { b.Version++ })
		return r
	}},
	{"a version that nobody asked for", logaudit.Version, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 2, 0)
		f.put(r, bus.Record{Kind: bus.KernelUpgraded, Body: &event.Upgraded{Version: 3, LogWarnBytes: 1 << 30, LogErrorBytes: 1 << 30}})
		return r
	}},
	{"other limits than were asked for", logaudit.Version, "risen", func(f *forgery) *written {
		r := f.nth(bus.KernelUpgraded, 0, 0)
		edit(f, r, func(b *event.Upgraded) { b.LogErrorBytes++ })
		return r
	}},
	{"a record of a later version", logaudit.Version, "risen", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.put(r, bus.Record{Kind: bus.AgentLogWarning, Agent: 1, Body: &logsize.Mark{Bytes: 9, Limit: 9}})
		return r
	}},
	{"a command of a later version", logaudit.Version, "risen", func(f *forgery) *written {
		r := f.nth(bus.Outcome, 0, 0)
		edit(f, r, func(o *event.Outcome) { o.Refusal = failure.Refusal{} })
		return f.blocks[f.blockOf(r)].records[0]
	}},

	{"too much, and nothing says so", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.nth(bus.AgentLogExceeded, 1, 0)
		f.blank(r)
		return r
	}},
	{"too much without a warning", logaudit.LogSize, "grown", func(f *forgery) *written {
		f.blank(f.nth(bus.AgentLogWarning, 2, 0))
		return f.nth(bus.AgentLogExceeded, 2, 0)
	}},
	{"a warning of little", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1)
		f.put(r, bus.Record{Kind: bus.AgentLogWarning, Agent: 3, Body: &logsize.Mark{Bytes: 3000, Limit: 3000}})
		return r
	}},
	{"a second warning", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1)
		f.put(r, bus.Record{Kind: bus.AgentLogWarning, Agent: 2, Body: &logsize.Mark{Bytes: 3000, Limit: 3000}})
		return r
	}},
	{"bytes that are not there", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.nth(bus.AgentLogExceeded, 1, 0)
		edit(f, r, func(b *logsize.Mark) { b.Bytes++ })
		return r
	}},
	{"a limit that is another", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.nth(bus.AgentLogExceeded, 1, 0)
		edit(f, r, func(b *logsize.Mark) { b.Limit-- })
		return r
	}},
	{"an instruction for one that is full", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.blocks[f.asked(event.AgentSubmit, 0)].last() // where it is refused
		f.put(r, bus.Record{Kind: bus.InstructionQueued, Agent: 2, Body: &execution.InstructionBody{Input: value.Null}})
		return r
	}},
	{"a tick of one that is full", logaudit.LogSize, "grown", func(f *forgery) *written {
		r := f.nth(bus.TickFailed, 1, 0)
		edit(f, r, func(b *execution.FailedBody) {
			require.Equal(f.t, failure.LogLimitExceeded, b.Failure.Code)
			b.Failure.Code = failure.ToolUnreachable
		})
		return r
	}},
}
