package state

import (
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/logsize"
	"github.com/omnikernel/omnikernel/kernel/mailbox"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/recovery"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/sessions"
	"github.com/omnikernel/omnikernel/kernel/table"
	"github.com/omnikernel/omnikernel/kernel/timers"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Row is everything the kernel knows of one agent, a field per owner.
type Row struct {
	_           struct{} `cbor:",toarray"`
	Identity    identity.Row
	Lifecycle   lifecycle.Row
	Execution   execution.Row
	Permissions permissions.Row
	Delegation  delegation.Row
	Memory      memory.Row
	Mailbox     mailbox.Row
	Recovery    recovery.Row
	Timer       timers.Row
	LastBlock   uint64   // logging's: pointer to the agent's newest block, 0 for none
	Head        [32]byte // … and the agent's own chain value after it
	Run         uint32   // the run that the agent works for, by its root agent; 0 for none (RU-4)

	// Not in the row's snapshot form, which is that of version 1.
	Logged logsize.Row `cbor:"-"`
}

// State is the whole of a kernel at one index.
type State struct {
	Config *config.Config // nil until KernelBooted
	Clock  int64          // kernel clock, Unix milliseconds (EV-6)
	Index  uint64         // Raft index of the last applied event
	Term   uint64         // … and its term

	Agents   table.Vector[Row]
	Identity identity.Tables
	Interned interning.Tables
	Running  execution.Tables
	Tools    tools.Tables
	Timers   timers.Tables
	Sessions sessions.Tables

	Delegation  delegation.Tables
	Memory      memory.Tables
	Escalations permissions.Tables
	Audit       audit.Tables
	Estop       estop.Tables
	Budgets     budgets.Tables
	Runs        runs.Tables
	Principals  principals.Tables

	Log logging.Tables
}

// New returns the state before the first event of the kernel with that id.
func New(kernelID string) *State {
	return &State{Memory: memory.New(), Log: logging.Genesis(kernelID)}
}

// Publish returns an immutable copy, in constant time: one root per table.
func (s *State) Publish() *State {
	return &State{
		Config: s.Config, Clock: s.Clock, Index: s.Index, Term: s.Term,
		Agents: s.Agents.Publish(), Identity: s.Identity.Publish(), Interned: s.Interned.Publish(),
		Running: s.Running.Publish(), Tools: s.Tools.Publish(), Timers: s.Timers.Publish(),
		Sessions: s.Sessions.Publish(), Delegation: s.Delegation.Publish(), Memory: s.Memory.Publish(),
		Escalations: s.Escalations.Publish(), Audit: s.Audit.Publish(), Estop: s.Estop, Budgets: s.Budgets.Publish(), Runs: s.Runs.Publish(),
		Principals: s.Principals.Publish(), Log: s.Log,
	}
}

// Version is the kernel version that holds: what every node of the cluster knows
// (EV-9). 0 before KernelBooted.
func (s *State) Version() uint32 {
	if s.Config == nil {
		return 0
	}
	return s.Config.Version
}

// Find returns the number and the row of the agent with that UUID, for
// reading; 0 and nil when there is none.
func (s *State) Find(id identity.ID) (uint32, *Row) {
	no, ok := s.Identity.Find(id)
	if !ok {
		return 0, nil
	}
	return no, s.Agents.Get(no)
}

// StateOf returns the agent's lifecycle state; DEFINED for an unknown one (LC-7).
func (s *State) StateOf(no uint32) lifecycle.State {
	if row := s.Agents.Get(no); row != nil {
		return row.Lifecycle.State
	}
	return lifecycle.Defined
}

// OverAt reports whether the agent was TERMINATED when the event at that index
// was applied. Nothing leaves TERMINATED, so any later state answers the same.
func (s *State) OverAt(no uint32, index uint64) bool {
	row := s.Agents.Get(no)
	if row == nil || row.Lifecycle.State != lifecycle.Terminated {
		return false
	}
	steps := row.Lifecycle.Recent()
	return steps[len(steps)-1].Index <= index
}

// Behind reports whether there is work that the next event will do, whatever
// it is: queued ticks, cascades, timers that are due (EV-12). While the kernel
// is suspended, ticks and timers are not (NO-2).
func (s *State) Behind() bool {
	if _, cascading := s.Delegation.FirstCascade(); cascading {
		return true
	}
	if s.Estop.Suspended() {
		return false
	}
	if s.Running.Len() > 0 {
		return true
	}
	if _, room := s.Budgets.Next(); room {
		return true
	}
	timer, ok := s.Timers.First()
	return ok && timer.Deadline <= s.Clock
}

// Account is the lowest account that an agent draws on: its own, or that of the
// nearest agent above which holds one; 0 for none (RU-3).
func (s *State) Account(agent uint32) uint32 {
	if s.Budgets.Len() == 0 {
		return 0
	}
	for at := agent; at != 0; {
		if _, ok := s.Budgets.Get(at); ok {
			return at
		}
		row := s.Agents.Get(at)
		if row == nil {
			return 0
		}
		at = row.Delegation.Parent
	}
	return 0
}
