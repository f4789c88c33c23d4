package agentcheck

import "github.com/omnikernel/omnikernel/kernel/value"

// Report is what a check came to.
type Report struct {
	File     string    `json:"file"`
	OK       bool      `json:"ok" doc:"no finding is an error"`
	Findings []Finding `json:"findings" doc:"in the order of the file"`
	Run      *Run      `json:"run,omitempty" doc:"the dry run; absent where the agent does not compile, and where none was wanted"`
}

// Finding is something that is wrong, or may be.
type Finding struct {
	Severity string `json:"severity" enum:"error,warning"`
	Rule     string `json:"rule" doc:"which check it was: compile, input, unknown-tool, grant, unbounded-loop, stub, dry-run"`
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	Field    string `json:"field,omitempty" doc:"path in the file"`
	Line     int    `json:"line,omitempty" doc:"of the file, from 1"`
	Column   int    `json:"column,omitempty"`
}

// The severities.
const (
	Error   = "error"
	Warning = "warning"
)

// The rules.
const (
	RuleCompile = "compile"
	RuleInput   = "input"
	RuleTool    = "unknown-tool"
	RuleGrant   = "grant"
	RuleLoop    = "unbounded-loop"
	RuleStub    = "stub"
	RuleRun     = "dry-run"
)

// Run is what happened in the dry run.
type Run struct {
	State   string      `json:"state" doc:"lifecycle state of the agent at the end"`
	Result  value.Raw   `json:"result,omitempty" doc:"of the last tick, when it completed"`
	Failure *Failure    `json:"failure,omitempty" doc:"how the last tick ended, when it failed"`
	Stopped string      `json:"stopped,omitempty" doc:"why the dry run ended before the agent did"`
	Ticks   int         `json:"ticks" doc:"that ended, of all agents"`
	Steps   uint64      `json:"steps" doc:"that those took: instructions, or runs of a script to its next call"`
	Agents  int         `json:"agents" doc:"the agent, and those that it delegated to"`
	Millis  int64       `json:"kernel_ms" doc:"of the kernel's time, which jumps over every wait"`
	Calls   []Call      `json:"calls" doc:"what was asked for, in order"`
	Emitted []value.Raw `json:"emitted,omitempty"`
}

// Failure is how a tick failed.
type Failure struct {
	Code    string `json:"code"`
	Class   string `json:"class,omitempty"`
	Message string `json:"message"`
}

// Call is one call of the dry run.
type Call struct {
	Agent     string    `json:"agent,omitempty" doc:"name of the agent that made it, where it is a child"`
	Tool      string    `json:"tool"`
	Args      value.Raw `json:"args"`
	Escalated bool      `json:"escalated,omitempty" doc:"somebody would have to decide; here it was approved"`
	By        string    `json:"by,omitempty" doc:"who answered: the kernel, a stub, or a default made from the tool's output schema"`
	OK        bool      `json:"ok"`
	Value     value.Raw `json:"value,omitempty"`
	Code      string    `json:"code,omitempty" doc:"why it did not succeed"`
	Message   string    `json:"message,omitempty"`
}
