package event

import "github.com/omnikernel/omnikernel/kernel/value"

// PlanRun asks for a new run (RU-1): what it is for, its plan or the program that
// makes it, and the root agent that carries the plan out, whose id is the run's.
type PlanRun struct {
	Agent   Define    `cbor:"1,keyasint" json:"agent,omitempty" doc:"the root agent: its id is the run's; its mode is service"`
	Name    string    `cbor:"2,keyasint,omitempty" json:"name,omitempty" doc:"a name for people, 0 to 128 bytes; need not be unique"`
	Goal    string    `cbor:"3,keyasint,omitempty" json:"goal,omitempty" doc:"what the run is for, in words; at most 4096 bytes"`
	Config  value.Raw `cbor:"4,keyasint,omitempty" json:"config,omitempty" doc:"visible to the planner and to every task as input.config"`
	Seed    string    `cbor:"5,keyasint,omitempty" json:"seed,omitempty" doc:"runs of one plan that have the same seed draw the same random numbers; the cluster's seed when empty"`
	Planner value.Raw `cbor:"6,keyasint,omitempty" json:"planner,omitempty" doc:"an instruction {kind, payload} whose result is the list of tasks"`
	Tasks   []RunTask `cbor:"7,keyasint,omitempty" json:"tasks,omitempty" doc:"the plan, in order, where there is no planner"`
	Start   bool      `cbor:"8,keyasint,omitempty" json:"start,omitempty" doc:"carry the plan out as soon as it is there"`
	Reason  string    `cbor:"9,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// RunTask is one step of a plan. Its program sees as input a map of goal, config,
// input and results.
type RunTask struct {
	Name    string    `cbor:"1,keyasint" json:"name" doc:"unique within the plan, 1 to 128 bytes"`
	Program value.Raw `cbor:"2,keyasint,omitempty" json:"program,omitempty" doc:"an instruction {kind, payload}; the agent's own program when empty"`
	Input   value.Raw `cbor:"3,keyasint,omitempty" json:"input,omitempty" doc:"visible to the program as input.input"`
	Uses    []string  `cbor:"4,keyasint,omitempty" json:"uses,omitempty" doc:"names of earlier tasks, whose results are visible as input.results"`
}

// StartRun carries out a plan that is there.
type StartRun struct {
	Run    string `cbor:"1,keyasint" json:"run"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason,omitempty"`
}

// PauseRun lets nothing new begin (RU-2). Forced, it does not wait for the task
// that is in progress.
type PauseRun struct {
	Run     string `cbor:"1,keyasint" json:"run"`
	Reason  string `cbor:"2,keyasint,omitempty" json:"reason,omitempty"`
	Trigger string `cbor:"3,keyasint,omitempty" json:"trigger,omitempty"`
	Force   bool   `cbor:"4,keyasint,omitempty" json:"force,omitempty"`
}

// ResumeRun goes on after the last task that was completed, or takes back a pause
// that has not taken effect.
type ResumeRun struct {
	Run     string `cbor:"1,keyasint" json:"run"`
	Reason  string `cbor:"2,keyasint,omitempty" json:"reason,omitempty"`
	Trigger string `cbor:"3,keyasint,omitempty" json:"trigger,omitempty"`
}

// KillRun ends a run and its root agent, whatever they are doing.
type KillRun struct {
	Run     string `cbor:"1,keyasint" json:"run"`
	Reason  string `cbor:"2,keyasint,omitempty" json:"reason,omitempty"`
	Trigger string `cbor:"3,keyasint,omitempty" json:"trigger,omitempty"`
}
