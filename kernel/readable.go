package kernel

import (
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// Readable reports whether Apply can read the event. Whoever proposes one asks
// first, however it was made: an entry that cannot be read stops every node
// that meets it in its log (EV-2).
func Readable(e *event.Event) bool {
	ok := true
	switch e.Kind {
	case event.KernelBooted:
		_, ok = event.DecodeBody[config.Config](e.Body)
	case event.LeaderStarted, event.Pulse:
	case event.Checkpoint:
		_, ok = event.DecodeBody[event.Compare](e.Body)
	case event.AgentDefine:
		_, ok = event.DecodeBody[event.Define](e.Body)
	case event.AgentStart:
		_, ok = event.DecodeBody[event.Start](e.Body)
	case event.AgentTrigger:
		_, ok = event.DecodeBody[event.Trigger](e.Body)
	case event.AgentKill:
		_, ok = event.DecodeBody[event.Kill](e.Body)
	case event.AgentSubmit:
		_, ok = event.DecodeBody[event.Submit](e.Body)
	case event.ToolDispatched:
		_, ok = event.DecodeBody[event.Dispatched](e.Body)
	case event.ToolResult:
		_, ok = event.DecodeBody[event.Result](e.Body)
	default:
		return false
	}
	return ok
}
