package runs

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Run is everything that is known of one run. Entries of the table are replaced,
// never changed in place.
type Run struct {
	_      struct{} `cbor:",toarray"`
	Agent  uint32   // number of the root agent, and the run's own
	Seq    uint64   // busSeq of RUN_DEFINED
	State  State
	Goal   string
	Config value.Raw
	Seed   string // empty: the cluster's

	Planner   uint32 // interned program that makes the plan; 0 when it was given
	AutoStart bool   // starts as soon as it is PLANNED

	Tasks   []Task
	Total   uint32 // their number, which a tombstone keeps
	Running uint32 // position of the task in progress, from 1; 0 when none is
	Done    uint32 // tasks that succeeded: they are the first ones
	Results uint64 // bytes that their results take

	Pausing     Cause  // who asked for a pause that takes effect later; 0 for nobody
	Wish        string // … and why
	Interrupted bool   // a forced pause withdrew what the running task waits for

	Count     uint32 // transitions so far
	Last      Step   // the last of them
	DefinedAt int64  // kernel clock, Unix milliseconds
	StartedAt int64  // 0 before the first task
	Archived  bool   // a tombstone (LC-8)
}

// Step is one transition that happened, and why.
type Step struct {
	_       struct{} `cbor:",toarray"`
	Seq     uint64   // busSeq of its record
	At      int64    // kernel clock, Unix milliseconds
	From    State
	Trigger Trigger
	Cause   Cause
	Code    failure.Code // of the failure that led to it; empty for none
	Reason  string       // the operator's or the kernel's words
}

// Task is one step of a plan.
type Task struct {
	_       struct{} `cbor:",toarray"`
	Name    string
	Program uint32 // interned
	Input   value.Raw
	Uses    []uint32 // positions, from 0, of earlier tasks whose results its input holds

	State     TaskState
	Tick      uint64 // tickSeq of the root agent that ran it
	StartedAt int64
	EndedAt   int64
	Result    value.Raw // of one that is DONE
	Code      failure.Code
	Message   string
}

// TaskState says how far a task is. Numbers are part of the snapshot format.
type TaskState uint8

// The states of a task.
const (
	Waiting TaskState = iota
	Running
	Done
	Broken // FAILED
)

var taskNames = [...]string{"WAITING", "RUNNING", "DONE", "FAILED"}

// String names the state.
func (s TaskState) String() string {
	if int(s) < len(taskNames) {
		return taskNames[s]
	}
	return "UNKNOWN_STATE"
}

// Programs lists the interned bodies that the run holds, once for each use.
func (r *Run) Programs() (numbers []uint32) {
	if r.Planner != 0 {
		numbers = append(numbers, r.Planner)
	}
	for i := range r.Tasks {
		numbers = append(numbers, r.Tasks[i].Program)
	}
	return numbers
}

// Next is the position, from 0, of the task that is to run when none does, if one
// is left.
func (r *Run) Next() (int, bool) { return int(r.Done), int(r.Done) < len(r.Tasks) }

// Input composes what a task's program sees as input: the run's goal and config,
// the task's own input, and the results of the tasks that it uses, by their
// names. Keys are in canonical order.
func (r *Run) Input(task int) value.Raw {
	t := &r.Tasks[task]
	raw := value.AppendMapHeader(nil, 4)
	raw = value.AppendString(value.AppendString(raw, "goal"), r.Goal)
	raw = append(value.AppendString(raw, "input"), orNull(t.Input)...)
	raw = append(value.AppendString(raw, "config"), orNull(r.Config)...)
	raw = value.AppendString(raw, "results")
	results := make(map[string]value.Raw, len(t.Uses))
	names := make([]string, len(t.Uses))
	for i, at := range t.Uses {
		names[i] = r.Tasks[at].Name
		results[names[i]] = r.Tasks[at].Result
	}
	value.SortKeys(names)
	raw = value.AppendMapHeader(raw, uint64(len(names)))
	for _, name := range names {
		raw = append(value.AppendString(raw, name), orNull(results[name])...)
	}
	return raw
}

// PlannerInput is what a run's planner sees as input.
func (r *Run) PlannerInput() value.Raw {
	raw := value.AppendMapHeader(nil, 2)
	raw = value.AppendString(value.AppendString(raw, "goal"), r.Goal)
	return append(value.AppendString(raw, "config"), orNull(r.Config)...)
}

func orNull(v value.Raw) value.Raw {
	if len(v) == 0 {
		return value.Null
	}
	return v
}
