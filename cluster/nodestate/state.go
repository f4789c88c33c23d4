package nodestate

// State of a node (node-lifecycle.md).
type State string

// The states.
const (
	Created     State = "Created"     // there, and not started
	Starting    State = "Starting"    // its parts are being opened
	Running     State = "Running"     // does its part
	Degraded    State = "Degraded"    // does its part, and components keep failing
	Suspended   State = "Suspended"   // paused by somebody
	Backoff     State = "Backoff"     // a start failed; the next one waits for its time
	Terminating State = "Terminating" // stops in order
	Terminated  State = "Terminated"  // stopped in order
	Crashed     State = "Crashed"     // beyond what it can do about itself
)

// States lists them all.
func States() []State {
	return []State{Created, Starting, Running, Degraded, Suspended, Backoff, Terminating, Terminated, Crashed}
}

// Closed tells whether a node in this state refuses commands (NO-2).
func (s State) Closed() bool {
	switch s {
	case Suspended, Terminating, Terminated, Crashed:
		return true
	}
	return false
}

// Trigger asks for a transition.
type Trigger string

// The triggers.
const (
	Start           Trigger = "start"            // the process begins
	InitOK          Trigger = "init_ok"          // everything is open
	InitFail        Trigger = "init_fail"        // something did not open
	Retry           Trigger = "retry"            // the time of a backoff is over
	Exhausted       Trigger = "exhausted"        // … and no start is left
	ComponentErrors Trigger = "component_errors" // a component keeps failing
	Recovered       Trigger = "recovered"        // none has failed for a while
	Pause           Trigger = "pause"            // somebody wants it to rest
	Estop           Trigger = "estop"            // … at once
	Resume          Trigger = "resume"           // … and to go on
	Shutdown        Trigger = "shutdown"         // a signal, or somebody's wish
	Done            Trigger = "done"             // everything has stopped
	Fatal           Trigger = "fatal"            // something must not be survived
)

// Triggers lists them all.
func Triggers() []Trigger {
	return []Trigger{
		Start, InitOK, InitFail, Retry, Exhausted, ComponentErrors, Recovered, Pause, Estop, Resume, Shutdown, Done, Fatal,
	}
}
