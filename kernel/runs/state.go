package runs

// State of a run. Numbers are part of the log and snapshot formats.
type State uint8

// The seven states of agent-run.md section 2.
const (
	Planning State = iota
	Planned
	Applying
	Paused
	Completed
	Failed
	Killed
)

// States is their number.
const States = 7

var stateNames = [States]string{"PLANNING", "PLANNED", "APPLYING", "PAUSED", "COMPLETED", "FAILED", "KILLED"}

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

// Over reports whether nothing leads out of the state.
func (s State) Over() bool { return s >= Completed }

// Trigger causes a transition. Numbers are part of the log format.
type Trigger uint8

// The triggers: the words of the edges.
const (
	Ready    Trigger = iota + 1 // the plan is there
	Start                       // … and is carried out
	Pause                       // nothing new begins
	Resume                      // … until somebody says so
	Complete                    // every task succeeded
	Fail                        // critical failure or policy block
	Kill                        // ended by force
)

// Triggers is their number; they start at 1.
const Triggers = 7

var triggerNames = [Triggers + 1]string{"", "ready", "start", "pause", "resume", "complete", "fail", "kill"}

// String names the trigger.
func (t Trigger) String() string {
	if t >= 1 && t <= Triggers {
		return triggerNames[t]
	}
	return "unknown_trigger"
}

// MarshalText gives the trigger its name in JSON.
func (t Trigger) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Cause is what kind of reason a transition has (RU-2). Numbers are part of the
// log format.
type Cause uint8

// The causes. The kernel's own is what follows from the run itself: its plan is
// there, a task failed, all of them are done.
const (
	Kernel Cause = iota + 1
	Operator
	Budget
	Governance
	Security
	RunawayCost
)

// Causes is their number; they start at 1.
const Causes = 6

var causeNames = [Causes + 1]string{"", "kernel", "operator", "budget", "governance", "security", "runaway_cost"}

// String names the cause; nobody's is empty.
func (c Cause) String() string {
	if c <= Causes {
		return causeNames[c]
	}
	return "unknown_cause"
}

// MarshalText gives the cause its name in JSON.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// ParseCause finds a cause that a client may name; an operator's is what is meant
// when nothing is said.
func ParseCause(name string) (Cause, bool) {
	if name == "" {
		return Operator, true
	}
	for i := Operator; i <= Causes; i++ {
		if causeNames[i] == name {
			return i, true
		}
	}
	return 0, false
}
