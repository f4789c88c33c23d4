package model

// State is a lifecycle state of an agent.
type State string

// The states of docs/semantics.md, LC-1.
const (
	Nobody     State = "" // there is no such agent
	Defined    State = "DEFINED"
	Spawned    State = "SPAWNED"
	Active     State = "ACTIVE"
	Waiting    State = "WAITING"
	Resumable  State = "RESUMABLE"
	Completing State = "COMPLETING"
	Faulted    State = "FAULTED"
	Recovering State = "RECOVERING"
	Terminated State = "TERMINATED"
)

// Row is one row of the transition table. Callers are those who may cause it.
type Row struct {
	From    State
	Trigger string
	To      State
	Callers []string
}

// Whoever may cause a transition.
const (
	byKernel    = "kernel"
	byClient    = "client"
	byParent    = "parent"
	byScheduler = "scheduler"
	byHandler   = "failure_handler"
	byEngine    = "tick_engine"
)

// Table is the lifecycle table, row by row: the fifteen of the specification, some
// of which have two triggers, and rows 16 and 17 of LC-1. LC-3 says who may.
var Table = []Row{
	{Defined, "spawn", Spawned, []string{byKernel, byClient}},
	{Spawned, "activate", Active, []string{byKernel, byClient}},
	{Active, "yield", Waiting, inside},
	{Active, "await_tool", Waiting, inside},
	{Active, "complete", Completing, inside},
	{Active, "error", Faulted, inside},
	{Active, "suspend", Resumable, []string{byClient, byParent}},
	{Waiting, "resume", Active, []string{byScheduler}},
	{Waiting, "timeout", Faulted, []string{byScheduler}},
	{Waiting, "error", Faulted, []string{byScheduler}},
	{Resumable, "resume", Active, []string{byClient, byParent, byKernel}},
	{Resumable, "expire", Terminated, []string{byKernel, byClient}},
	{Completing, "teardown_ok", Terminated, inside},
	{Faulted, "recover", Recovering, []string{byHandler, byClient}},
	{Faulted, "abandon", Terminated, []string{byHandler, byClient}},
	{Recovering, "recovery_success", Active, inside},
	{Recovering, "recovery_exhausted", Terminated, inside},
	{Completing, "error", Faulted, inside},
	{Defined, "breach", Terminated, inside},
	{Spawned, "breach", Terminated, inside},
	{Active, "breach", Terminated, inside},
	{Waiting, "breach", Terminated, inside},
	{Resumable, "breach", Terminated, inside},
	{Completing, "breach", Terminated, inside},
	{Faulted, "breach", Terminated, inside},
	{Recovering, "breach", Terminated, inside},
}

// inside is what "the kernel alone" means: LC-3 leaves it to the kernel which of
// its parts acts.
var inside = []string{byKernel, byEngine, byHandler, byScheduler}

// Next is where a trigger leads from a state; false when the table has no such row,
// or not for this caller.
func Next(from State, trigger, caller string) (State, bool) {
	for _, row := range Table {
		if row.From == from && row.Trigger == trigger {
			for _, may := range row.Callers {
				if may == caller {
					return row.To, true
				}
			}
		}
	}
	return "", false
}
