package logaudit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// forks: agent 1 makes two calls, one after the other, and ends. Agent 2 is a fork
// of it as it was between them, made while it waited for the second; agent 3 is
// another one, of the same point, made after its end.
func forks(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	one := s.Start(event.Define{Grants: kerneltest.Everything(), Program: kerneltest.JSON(t, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"CALL","payload":{"tool":"echo","args":1}},
		{"kind":"CALL","payload":{"tool":"echo","args":2}},
		{"kind":"CALL","payload":{"tool":"echo","args":3}}]}}`)}, nil)
	s.Answer(true, "first")
	point := uint64(len(s.Log))
	s.Answer(true, "second")
	fork := func() {
		f, err := s.Moment(1, point).Fork()
		require.NoError(t, err)
		s.Must(event.AgentFork, f)
	}
	fork()
	s.Answer(true, "third")
	s.Answer(true, "second, to the fork")
	require.Equal(t, lifecycle.Terminated, s.StateOf(one))
	fork()
	s.Pulse()
	return s
}

// forkForgeries are lies about what forks start from.
var forkForgeries = []untruth{
	{"a fork of the living with another chain value", logaudit.Fork, "forks", func(f *forgery) *written {
		return f.forkOf(2, func(e *event.Fork, b *identity.Forked) { e.Head[3] ^= 1; b.Head = e.Head })
	}},
	{"a fork of one that is over with another chain value", logaudit.Fork, "forks", func(f *forgery) *written {
		return f.forkOf(3, func(e *event.Fork, b *identity.Forked) { e.Head[3] ^= 1; b.Head = e.Head })
	}},
	{"a fork of what was there before, with the chain value of later", logaudit.Fork, "forks", func(f *forgery) *written {
		before := f.blocks[f.blockOf(f.nth(bus.CallRequested, 1, 1))-1]
		return f.forkOf(3, func(e *event.Fork, b *identity.Forked) { e.At = before.last().seq; b.Seq = e.At })
	}},
	{"a fork of nobody", logaudit.Fork, "forks", func(f *forgery) *written {
		return f.forkOf(2, func(_ *event.Fork, b *identity.Forked) { b.ID[0] ^= 1 })
	}},
	{"a fork from the future", logaudit.Fork, "forks", func(f *forgery) *written {
		return f.forkOf(2, func(e *event.Fork, b *identity.Forked) { e.At += 1000; b.Seq = e.At })
	}},
	{"a fork of another point than was asked for", logaudit.Fork, "forks", func(f *forgery) *written {
		return f.forkOf(2, func(_ *event.Fork, b *identity.Forked) { b.Seq-- })
	}},
	{"a fork that nobody asked for", logaudit.Fork, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.put(r, bus.Record{Kind: bus.Forked, Agent: 1, Body: &identity.Forked{}})
		return r
	}},
}

// LO-13: what forks say of their sources is compared in a second reading, and only
// with the log that the first one read.
func TestForksAreReadAgain(t *testing.T) {
	blocks := forks(t).Blocks
	a := logaudit.New("default")
	for _, raw := range blocks {
		require.NoError(t, a.Feed(raw))
	}
	require.Equal(t, 2, a.Unread())
	require.EqualValues(t, 2, a.Report().Forks)
	other := forge(t, blocks)
	other.blocks[len(other.blocks)-1].clock++
	again := a.Origins("default")
	var err error
	for _, raw := range other.write() {
		require.False(t, again.Done())
		require.NoError(t, err)
		err = again.Feed(raw)
	}
	var differs *logging.Mismatch
	require.ErrorAs(t, err, &differs)
	require.Equal(t, logging.AspectChain, differs.Aspect)
}
