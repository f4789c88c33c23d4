package api

import "github.com/omnikernel/omnikernel/kernel/value"

// OpenTask is a call that waits for a person (TO-12).
type OpenTask struct {
	Task        string    `json:"task" doc:"its id: the agent's, the tick and the call, as in an Idempotency-Key"`
	AgentID     string    `json:"agent_id" doc:"who asks, and waits"`
	Name        string    `json:"name,omitempty" doc:"the agent's"`
	Tool        string    `json:"tool"`
	Description string    `json:"description,omitempty" doc:"the tool's"`
	Args        value.Raw `json:"args"`
	Output      value.Raw `json:"output,omitempty" doc:"JSON Schema of an answer, of the tool as it was called; anything when absent"`
	Resource    string    `json:"resource"`
	Revision    uint64    `json:"revision" doc:"of the tool"`
	Since       int64     `json:"since_ms" doc:"kernel clock, Unix milliseconds"`
	Deadline    int64     `json:"deadline_ms" doc:"without an answer it is TOOL_TIMEOUT then: kernel clock, Unix milliseconds"`
}

// TaskAnswer is one open task.
type TaskAnswer struct {
	OpenTask
	As
}

// TaskPage is a part of the open tasks, in order of their agents. Next, when not
// empty, is what to pass as after for what follows.
type TaskPage struct {
	Tasks []OpenTask `json:"tasks"`
	Next  string     `json:"next,omitempty"`
	As
}

// TaskQuery selects open tasks.
type TaskQuery struct {
	Agent string // only what this agent asks
	After string // id of the task to start after
	Limit int    // 1 to 1,000; 0 is 100
}

// CompleteBody is the body of POST …/tasks/{task}/complete.
type CompleteBody struct {
	Result value.Raw `json:"result,omitempty" doc:"the answer, which must fit the tool's output schema; null when it is left out"`
}

// RejectBody is the body of POST …/tasks/{task}/reject.
type RejectBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes; the agent that asked sees it"`
}
