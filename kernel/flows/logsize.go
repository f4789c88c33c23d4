package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logsize"
)

// LogSize says, at the end of an event that wrote records about an agent, which limits
// its part of the log has come to, each once.
func LogSize(v View, agent uint32, out *bus.Batch) {
	row := v.Agents.Get(agent)
	if row == nil || row.Lifecycle.State == lifecycle.Terminated {
		return // an agent that is over does nothing more
	}
	size := &row.Logged
	if limit := v.Config.LogWarnBytes; !size.Warned && size.Bytes >= limit {
		out.Add(bus.Record{Kind: bus.AgentLogWarning, Agent: agent, Body: &logsize.Mark{Bytes: size.Bytes, Limit: limit}})
	}
	if limit := v.Config.LogErrorBytes; !size.Exceeded && size.Bytes >= limit {
		out.Add(bus.Record{Kind: bus.AgentLogExceeded, Agent: agent, Body: &logsize.Mark{Bytes: size.Bytes, Limit: limit}})
	}
}

// logExceeded ends the ticks of an agent whose part of the log is as large as it may be.
var logExceeded = failure.Failure{Code: failure.LogLimitExceeded, Message: "the agent's part of the log is as large as log_error_bytes allows"}

// full refuses what would make more of the log of such an agent.
func (t Target) full() *Refusal {
	if !t.Row.Logged.Exceeded {
		return nil
	}
	return refuseHint(failure.LogLimitExceeded, "agent", logExceeded.Message, "end it with omni agent kill, and start another one")
}
