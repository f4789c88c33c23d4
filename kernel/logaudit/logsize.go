package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/logsize"
)

// size is how much of the log is about an agent, from kernel version 2 on (LS-1).
type size struct {
	bytes    uint64
	marks    uint64 // … of which are marks of the block that is being read
	warned   bool
	exceeded bool
	grown    bool // in the block that is being read
}

// grow counts a record that was believed.
func (a *Auditor) grow(r *logging.Record) {
	g := a.agents[r.Agent]
	if g == nil || a.version() < 2 {
		return
	}
	bytes := uint64(r.Size())
	g.size.bytes += bytes
	if a.record.Kind == bus.AgentLogWarning || a.record.Kind == bus.AgentLogExceeded {
		g.size.marks += bytes
	}
	if !g.size.grown {
		g.size.grown = true
		a.grown = append(a.grown, g)
	}
}

// sizeMarked looks at AGENT_LOG_WARNING and AGENT_LOG_EXCEEDED: each once, the warning first,
// when the agent's part of the log has come there, and with what it has come to.
func (a *Auditor) sizeMarked(g *agent, b *logsize.Mark) {
	if a.config == nil {
		return
	}
	s, limit, said := &g.size, a.config.LogWarnBytes, &g.size.warned
	if a.record.Kind == bus.AgentLogExceeded {
		limit, said = a.config.LogErrorBytes, &s.exceeded
	}
	switch has := s.bytes - s.marks; {
	case *said:
		a.found(LogSize, "this was said of the agent before")
	case said == &s.exceeded && !s.warned:
		s.warned = true
		a.found(LogSize, "the agent has come to log_error_bytes, and no warning comes before")
	case has < limit:
		a.found(LogSize, "%d bytes of the log are about the agent, which is not %d yet", has, limit)
	case b.Limit != limit:
		a.found(LogSize, "the limit is said to be %d, and is %d", b.Limit, limit)
	case b.Bytes != has:
		a.found(LogSize, "%d bytes of the log are said to be about the agent, and %d are", b.Bytes, has)
	}
	*said = true
}

// sizes looks at the agents that the block was about, when it ends: one that has come to
// a limit is said to have.
func (a *Auditor) sizes() {
	for _, g := range a.grown {
		s := &g.size
		has := s.bytes - s.marks
		s.marks, s.grown = 0, false
		if a.agents[g.no] != g {
			continue // it is over
		}
		a.record = bus.Record{Kind: bus.Event, Agent: g.no}
		switch {
		case !s.warned && has >= a.config.LogWarnBytes:
			s.warned = true
			a.found(LogSize, "%d bytes of the log are about the agent by now, and no warning says so", has)
		case !s.exceeded && has >= a.config.LogErrorBytes:
			s.exceeded = true
			a.found(LogSize, "%d bytes of the log are about the agent by now, and nothing says that this is too much", has)
		}
	}
	clear(a.grown)
	a.grown = a.grown[:0]
}

// filled looks at what becomes of an agent of which the log has as much as it may: it
// takes nothing in any more, and its ticks fail, but for its last (LS-3).
func (a *Auditor) filled(g *agent) {
	if !g.size.exceeded {
		return
	}
	ends := g.tick.phase == running && !g.tick.teardown
	switch body := a.record.Body.(type) {
	case *execution.CompletedBody, *execution.PendingBody:
		if ends {
			a.found(LogSize, "the agent's part of the log has come to log_error_bytes, and its tick runs")
		}
	case *execution.FailedBody:
		if code := body.Failure.Code; ends && code != failure.LogLimitExceeded && !a.force(g).lost {
			a.found(LogSize, "the agent's part of the log has come to log_error_bytes, and its tick fails with %s", code)
		}
	}
	if a.given(g) {
		a.found(LogSize, "the agent's part of the log has come to log_error_bytes, and it takes more in")
	}
}

// given tells whether the record says that the agent takes in what a client gave it: not
// the task of a run, and not what it was activated with.
func (a *Auditor) given(g *agent) bool {
	var to string
	switch kind := a.record.Kind; {
	case kind == bus.InstructionQueued && a.record.Tick == 0 && a.event.Kind == event.AgentSubmit:
		if b, ok := event.DecodeBody[event.Submit](a.event.Body); ok {
			to = b.Agent
		}
	case kind == bus.MessageQueued && a.event.Kind == event.AgentSend:
		if b, ok := event.DecodeBody[event.Send](a.event.Body); ok {
			to = b.Agent
		}
	}
	id, ok := named(to)
	return ok && id == g.holds.ID
}
