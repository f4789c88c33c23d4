package api

import "github.com/omnikernel/omnikernel/kernel/value"

// Run is everything there is to say about one run at one index (RU-1).
type Run struct {
	RunID     string         `json:"run_id" doc:"the id of its root agent, too"`
	Name      string         `json:"name,omitempty"`
	State     string         `json:"state" enum:"PLANNING,PLANNED,APPLYING,PAUSED,COMPLETED,FAILED,KILLED"`
	Goal      string         `json:"goal,omitempty"`
	Config    value.Raw      `json:"config,omitempty"`
	Seed      string         `json:"seed,omitempty" doc:"the cluster's when absent"`
	Planner   bool           `json:"planner,omitempty" doc:"the plan is, or was, made by a planner"`
	Start     bool           `json:"start,omitempty" doc:"it starts as soon as it is PLANNED"`
	Tasks     []TaskProgress `json:"tasks,omitempty" doc:"the plan, in order"`
	Total     uint32         `json:"total" doc:"tasks of the plan"`
	Done      uint32         `json:"done" doc:"tasks that succeeded: they are the first ones"`
	Pausing   string         `json:"pausing,omitempty" doc:"trigger of a pause that takes effect when what is in progress has ended"`
	Last      *RunStep       `json:"last,omitempty" doc:"its last transition"`
	Agent     string         `json:"agent_state" doc:"lifecycle state of the root agent"`
	DefinedAt int64          `json:"defined_at_ms" doc:"kernel clock, Unix milliseconds"`
	StartedAt int64          `json:"started_at_ms,omitempty"`
	Archived  bool           `json:"archived,omitempty" doc:"only its tombstone is left; the rest is in the log"`
	Ledger    *Ledger        `json:"ledger,omitempty" doc:"where its provenance ledger ends"`

	Labels   map[string]string `json:"labels,omitempty" doc:"the root agent's"`
	Waits    []Wait            `json:"waits,omitempty" doc:"what the running task waits for"`
	RetryAt  int64             `json:"retry_at_ms,omitempty" doc:"when the task that failed in passing is tried again; absent while it is not going to be"`
	Children uint32            `json:"children,omitempty" doc:"agents that the root agent delegated to, at most 50,000 are counted"`
	Budget   *Account          `json:"budget,omitempty" doc:"what the run may spend and has spent: its root agent's account"`
	As
}

// Ledger is where the ledger of a run ends: its blocks are the run's part of the log.
type Ledger struct {
	Position uint64 `json:"position" doc:"of its last block in the log"`
	Head     string `json:"head" doc:"64 hex digits: the run's own chain value after that"`
}

// TaskProgress is a task of a plan, and how far it is.
type TaskProgress struct {
	Name      string    `json:"name"`
	State     string    `json:"state" enum:"WAITING,RUNNING,DONE,FAILED"`
	Uses      []string  `json:"uses,omitempty" doc:"earlier tasks whose results it sees"`
	Tick      uint64    `json:"tick,omitempty" doc:"tickSeq of the root agent that runs it"`
	Retries   uint32    `json:"retries,omitempty" doc:"how often the running task was tried again after a TRANSIENT failure"`
	StartedAt int64     `json:"started_at_ms,omitempty"`
	EndedAt   int64     `json:"ended_at_ms,omitempty"`
	Result    value.Raw `json:"result,omitempty" doc:"of one that is DONE"`
	Code      string    `json:"code,omitempty" doc:"why one FAILED"`
	Message   string    `json:"message,omitempty"`
}

// RunStep is one transition of a run.
type RunStep struct {
	From     string `json:"from"`
	Trigger  string `json:"trigger"`
	Cause    string `json:"cause" doc:"kernel, operator, budget, governance, security or runaway_cost"`
	Code     string `json:"code,omitempty" doc:"the failure that led to it"`
	Reason   string `json:"reason,omitempty"`
	BusSeq   uint64 `json:"bus_seq"`
	AtMillis int64  `json:"at_ms" doc:"kernel clock, Unix milliseconds"`
}

// RunSummary is a row of a list of runs.
type RunSummary struct {
	RunID     string            `json:"run_id"`
	Name      string            `json:"name,omitempty"`
	State     string            `json:"state"`
	Done      uint32            `json:"done"`
	Total     uint32            `json:"total"`
	Labels    map[string]string `json:"labels,omitempty"`
	DefinedAt int64             `json:"defined_at_ms"`
}

// RunPage is a part of a list, in the order in which runs were defined. Next, when
// not empty, is what to pass as after for what follows.
type RunPage struct {
	Runs []RunSummary `json:"runs"`
	Next string       `json:"next,omitempty"`
	As
}

// RunQuery selects runs.
type RunQuery struct {
	State  string            // empty for all
	Labels map[string]string // all of them must be there
	After  string            // run id to start after
	Limit  int               // 1 to 1,000; 0 is 100
}

// RunStartBody is the body of POST …/runs/{id}/start.
type RunStartBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// RunPauseBody is the body of POST …/runs/{id}/pause.
type RunPauseBody struct {
	Reason  string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
	Trigger string `json:"trigger,omitempty" enum:"operator,budget,governance,security,runaway_cost" doc:"operator when absent"`
	Force   bool   `json:"force,omitempty" doc:"withdraw what the running task waits for, and freeze it"`
}

// RunBody is the body of POST …/runs/{id}/resume and of POST …/runs/{id}/kill.
type RunBody struct {
	Reason  string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
	Trigger string `json:"trigger,omitempty" enum:"operator,budget,governance,security,runaway_cost" doc:"operator when absent"`
}
