package api

import "github.com/omnikernel/omnikernel/kernel/tools"

// Tool is one registered tool.
type Tool struct {
	Manifest tools.Manifest `json:"manifest"`
	Revision uint64         `json:"revision" doc:"busSeq of its registration; each is another revision"`
	AtMillis int64          `json:"at_ms" doc:"when that was: kernel clock, Unix milliseconds"`
	Calls    uint32         `json:"calls" doc:"that run with this revision"`
	Earlier  []EarlierTool  `json:"earlier,omitempty" doc:"earlier revisions with which calls still run, the oldest first"`
	As
}

// EarlierTool is a revision that new calls do not get any more.
type EarlierTool struct {
	Version  string `json:"version,omitempty"`
	Revision uint64 `json:"revision"`
	AtMillis int64  `json:"at_ms"`
	Calls    uint32 `json:"calls"`
}

// ToolSummary is a row of a list of tools.
type ToolSummary struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Adapter     string `json:"adapter"`
	Idempotent  bool   `json:"idempotent,omitempty"`
	Revision    uint64 `json:"revision"`
	AtMillis    int64  `json:"at_ms"`
	Calls       uint32 `json:"calls"`
}

// ToolPage is a part of a list of registered tools, by name. Next, when not empty, is
// what to pass as after for what follows.
type ToolPage struct {
	Tools   []ToolSummary `json:"tools"`
	BuiltIn []string      `json:"built_in" doc:"names of the tools that need no manifest"`
	Next    string        `json:"next,omitempty"`
	As
}

// ToolQuery selects registered tools.
type ToolQuery struct {
	After string // name to start after
	Limit int    // 1 to 1,000; 0 is 100
}

// DeregisterBody is the body of POST …/tools/{name}/deregister.
type DeregisterBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}
