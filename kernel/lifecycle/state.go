package lifecycle

// State of an agent. Numbers are part of the log and snapshot formats.
type State uint8

// The nine states of agent-lifecycle.md section 2.
const (
	Defined State = iota
	Spawned
	Active
	Waiting
	Resumable
	Completing
	Faulted
	Recovering
	Terminated
)

// States is their number.
const States = 9

var stateNames = [States]string{
	"DEFINED", "SPAWNED", "ACTIVE", "WAITING", "RESUMABLE", "COMPLETING", "FAULTED", "RECOVERING", "TERMINATED",
}

// String returns the specification's name.
func (s State) String() string {
	if s < States {
		return stateNames[s]
	}
	return "UNKNOWN_STATE"
}

// MarshalText gives the state its name in JSON.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseState finds a state by its name.
func ParseState(name string) (State, bool) {
	for i, n := range stateNames {
		if n == name {
			return State(i), true
		}
	}
	return 0, false
}

// Trigger causes a transition. Numbers are part of the log format.
type Trigger uint8

// The triggers of agent-lifecycle.md section 5 (fifteen rows' words, yield and
// await_tool sharing one), and breach (LC-1, row 17).
const (
	Spawn Trigger = iota + 1
	Activate
	Yield
	AwaitTool
	Complete
	Error
	Suspend
	Resume
	Timeout
	Expire
	TeardownOK
	Recover
	Abandon
	RecoverySuccess
	RecoveryExhausted
	Breach
)

// Triggers is the number of triggers, breach included; they start at 1.
const Triggers = 16

var triggerNames = [Triggers + 1]string{
	"", "spawn", "activate", "yield", "await_tool", "complete", "error", "suspend", "resume", "timeout", "expire",
	"teardown_ok", "recover", "abandon", "recovery_success", "recovery_exhausted", "breach",
}

// String returns the specification's name.
func (t Trigger) String() string {
	if t >= 1 && t <= Triggers {
		return triggerNames[t]
	}
	return "unknown_trigger"
}

// MarshalText gives the trigger its name in JSON.
func (t Trigger) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// ParseTrigger finds a trigger by its name.
func ParseTrigger(name string) (Trigger, bool) {
	for i, n := range triggerNames {
		if n == name && i > 0 {
			return Trigger(i), true
		}
	}
	return 0, false
}

// Caller is who causes a transition (LC-3).
type Caller uint8

// The callers. The teardown routine and the tick engine act as the kernel.
const (
	Client Caller = iota + 1
	Parent
	Scheduler
	FailureHandler
	Kernel
)

// Callers is the number of callers; they start at 1.
const Callers = 5

var callerNames = [Callers + 1]string{"", "client", "parent", "scheduler", "failure_handler", "kernel"}

// String names the caller.
func (c Caller) String() string {
	if c >= 1 && c <= Callers {
		return callerNames[c]
	}
	return "unknown_caller"
}

// MarshalText gives the caller its name in JSON.
func (c Caller) MarshalText() ([]byte, error) { return []byte(c.String()), nil }
