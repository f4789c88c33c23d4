package model

import "strings"

// Lifecycle is the name of the workload that sends commands to such agents.
const Lifecycle = "lifecycle"

// Agent is one agent that changes only by commands: nothing that it does takes
// time. It is a value, and can be compared.
type Agent struct {
	State State
	Task  bool   // it ends when it has nothing more to do (LC-11)
	Queue string // instructions that wait, a letter each
	Tick  byte   // the instruction in progress: that waits, was frozen, or failed; 0 when none
	Mail  int    // messages that nobody took

	Leaving bool // it is WAITING, and was asked to be suspended (LC-13)
	Passing bool // its fault was called TRANSIENT
	Own     byte // its own program; 0 when it has none
}

// The instructions of such agents.
const (
	Note   = 'n' // gives a value
	Listen = 'w' // takes a message, or waits for one
	Break  = 'f' // fails, for good

	answered  = 'a' // a Listen that has its message and was frozen before it went on
	withdrawn = 'x' // a Listen whose wait was withdrawn, and that does not know it yet
)

// Limits of a new cluster that such an agent can meet.
const (
	maxQueue   = 64
	maxMailbox = 64
)

// Ask is one command about an agent, or a read of it.
type Ask struct {
	Do          string `json:"do"` // "define", "start", "spawn" …, "kill", "submit", "send", "reclassify", "get"
	Task        bool   `json:"task,omitempty"`
	Instruction string `json:"instruction,omitempty"` // of define, start and submit: a letter, or nothing
	Force       bool   `json:"force,omitempty"`
}

// Seen is what a read of an agent answered.
type Seen struct {
	State State `json:"state"`
}

// Answer is what came of an Ask: a state, or a code of refusal with the state that
// it was found in.
type Answer struct {
	Code  string
	State State
}

// Do is what an ask does to the agent, and how it is answered. The state of an
// answer is the one before ticks run (EV-15).
func (a Agent) Do(ask Ask) (Agent, Answer) {
	switch {
	case ask.Do == "define" || ask.Do == "start":
		return a.born(ask)
	case a.State == Nobody:
		return a, Answer{Code: "NOT_FOUND"}
	}
	switch ask.Do {
	case "get":
		return a, Answer{State: a.State}
	case "kill": // LC-4
		if a.State == Defined || a.State == Terminated {
			return a.refuse("INVALID_TRANSITION")
		}
		return a.end()
	case "submit":
		return a.submit(ask)
	case "send":
		return a.send()
	case "reclassify": // FA-2
		switch {
		case a.State != Faulted:
			return a.refuse("INVALID_STATE")
		case a.Passing:
			return a.refuse("INVALID_ARGUMENT") // there is nothing to call otherwise
		}
		a.Passing = true
		return a.done()
	}
	return a.trigger(ask)
}

func (a Agent) refuse(code string) (Agent, Answer) { return a, Answer{Code: code, State: a.State} }

// done is an acknowledged command after which nothing runs.
func (a Agent) done() (Agent, Answer) { return a, Answer{State: a.State} }

// end is TERMINATED: nothing is left of it (LC-17).
func (a Agent) end() (Agent, Answer) {
	return Agent{State: Terminated, Task: a.Task, Own: a.Own}, Answer{State: Terminated}
}

// active is an acknowledged command by which the agent is, or stays, ACTIVE: its
// ticks run in the same event.
func (a Agent) active() (Agent, Answer) {
	a.State = Active
	return a.run(), Answer{State: Active}
}

func (a Agent) born(ask Ask) (Agent, Answer) {
	if a.State != Nobody {
		return a, Answer{Code: "ALREADY_EXISTS", State: a.State}
	}
	b := Agent{State: Defined, Task: ask.Task}
	if ask.Instruction != "" {
		b.Own = ask.Instruction[0]
	}
	if ask.Do == "define" {
		return b.done()
	}
	b.Queue = ask.Instruction // LC-14, LC-15
	return b.active()
}

func (a Agent) trigger(ask Ask) (Agent, Answer) {
	if ask.Do == "suspend" && a.State == Waiting {
		return a.suspendWaiting(ask)
	}
	to, ok := Next(a.State, ask.Do, byClient)
	if !ok {
		return a.refuse("INVALID_TRANSITION")
	}
	switch ask.Do {
	case "spawn": // LC-15
		a.State = to
		if a.Own != 0 {
			a.Queue = string(a.Own)
		}
		return a.done()
	case "activate":
		if a.Task && a.Queue == "" {
			return a.refuse("NO_INSTRUCTION") // LC-11
		}
		return a.active()
	case "suspend":
		a.State = to
		return a.done()
	case "resume":
		return a.active()
	case "recover":
		if !a.Passing {
			return a.refuse("NOT_RECOVERABLE")
		}
		a.Passing = false
		if a.Tick == withdrawn {
			a.Tick = Listen // the call that was pending is made again (FA-1)
		}
		return a.active()
	}
	return a.end() // expire, abandon
}

// suspendWaiting is LC-13. Once it was asked for, the table's word holds again,
// which has no such row (LC-2); but force does at once what was asked for.
func (a Agent) suspendWaiting(ask Ask) (Agent, Answer) {
	if ask.Force {
		a.State, a.Tick, a.Leaving = Resumable, withdrawn, false
		return a.done()
	}
	if a.Leaving {
		return a.refuse("INVALID_TRANSITION")
	}
	a.Leaving = true
	return a.done()
}

func (a Agent) submit(ask Ask) (Agent, Answer) {
	switch a.State {
	case Spawned, Active, Waiting, Resumable: // LC-6
	default:
		return a.refuse("INVALID_STATE")
	}
	if len(a.Queue) >= maxQueue {
		return a.refuse("QUEUE_FULL")
	}
	a.Queue += ask.Instruction
	if a.State == Active {
		return a.active()
	}
	return a.done()
}

func (a Agent) send() (Agent, Answer) {
	switch {
	case a.State == Terminated || a.State == Defined:
		return a.refuse("INVALID_STATE")
	case a.State == Waiting && a.Leaving: // row 7, and at once row 6
		a.State, a.Tick, a.Leaving = Resumable, answered, false
		return a.done()
	case a.State == Waiting: // ME-5
		a.Tick = answered
		return a.active()
	case a.Mail >= maxMailbox:
		return a.refuse("QUEUE_FULL")
	}
	a.Mail++
	return a.done()
}

// run runs the ticks of an ACTIVE agent until it waits, fails, ends or has no more.
func (a Agent) run() Agent {
	for {
		if a.Tick == 0 {
			if a.Queue == "" {
				return a
			}
			a.Tick, a.Queue = a.Queue[0], a.Queue[1:]
		}
		switch a.Tick {
		case Listen:
			if a.Mail == 0 {
				a.State = Waiting
				return a
			}
			a.Mail--
		case Break, withdrawn:
			a.State = Faulted
			return a
		}
		a.Tick = 0
		if a.Task && a.Queue == "" {
			over, _ := a.end()
			return over
		}
	}
}

// String is what the agent is, in a line.
func (a Agent) String() string {
	if a.State == Nobody {
		return "nobody"
	}
	s := string(a.State)
	if a.Tick != 0 {
		s += " at " + string(rune(a.Tick))
	}
	if a.Queue != "" {
		s += ", " + a.Queue + " to do"
	}
	if a.Mail > 0 {
		s += ", mail " + strings.Repeat("*", a.Mail)
	}
	return s
}
