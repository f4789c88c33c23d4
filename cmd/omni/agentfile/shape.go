package agentfile

// Shape is what a document, or a part of one, may look like.
type Shape struct {
	kind    kind
	members map[string]*Shape // of an object: nothing else is known
	aliases map[string]string // of an object: what people write instead
	about   map[string]string // of an object: what members are that are no field of a command
	item    *Shape            // of a list
	rest    *Shape            // of an object: of the members that have no shape of their own
	words   []string          // of text: no other is known; nil for any
}

type kind uint8

const (
	anything kind = iota
	text
	integer
	object
	list
	texts // a mapping from text to text
	flag
	schema // a JSON Schema
)

func (k kind) String() string {
	return [...]string{"a value", "text", "an integer", "a mapping", "a list", "a mapping of text to text", "true or false", "a JSON Schema: a mapping, true or false"}[k]
}

var (
	aValue   = &Shape{kind: anything}
	aText    = &Shape{kind: text}
	aInteger = &Shape{kind: integer}
	aTexts   = &Shape{kind: texts}
	aFlag    = &Shape{kind: flag}
	aMapping = &Shape{kind: object}
	aSchema  = &Shape{kind: schema}
)

// Agent is the file of define and start: who the agent is, what it may do, and
// its program.
var Agent = &Shape{
	kind: object,
	members: map[string]*Shape{
		"id":        aText,
		"name":      aText,
		"evaluator": aText,
		"mode":      aText,
		"labels":    aTexts,
		"env":       aTexts,
		"grants": {kind: list, item: &Shape{kind: object, members: map[string]*Shape{
			"effect": {kind: text, words: []string{"ALLOW", "DENY", "ESCALATE"}}, "action": aText, "resource": aText, "not_after_ms": aInteger,
		}}},
		"program":  instruction,
		"script":   aText,
		"input":    aSchema,
		"teardown": instruction,
		"budget": {kind: object, members: map[string]*Shape{
			"tokens": aInteger, "usd_micros": aInteger, "wall_ms": aInteger, "warn_percent": aInteger,
		}, aliases: map[string]string{"usd": "usd_micros", "time": "wall_ms", "wall": "wall_ms", "warn": "warn_percent"}},
		"max_depth": aInteger,
		"ttl_ms":    aInteger,
	},
	aliases: map[string]string{
		"depth": "max_depth", "ttl": "ttl_ms", "agent_id": "id", "label": "labels", "environment": "env", "permissions": "grants", "grant": "grants", "budgets": "budget",
		"instruction": "program", "inputs": "input", "input_schema": "input", "schema": "input",
	},
	about: aboutScript,
}

var aboutScript = map[string]string{"script": "the program as a script of script/1, in Starlark (docs/scripts.md), instead of program"}

// Work is the file of submit: an instruction, an input, or both.
var Work = &Shape{
	kind:    object,
	members: map[string]*Shape{"program": instruction, "script": aText, "input": aValue},
	about:   aboutScript,
	aliases: map[string]string{"kind": "program", "payload": "program", "instruction": "program"},
}

// Run is the file of a run: what it is for, who carries it out, and its tasks or
// who plans them.
var Run = &Shape{
	kind: object,
	members: map[string]*Shape{
		"name":    aText,
		"goal":    aText,
		"config":  aValue,
		"seed":    aText,
		"start":   aFlag,
		"reason":  aText,
		"agent":   Agent,
		"planner": instruction,
		"tasks": {kind: list, item: &Shape{
			kind: object,
			members: map[string]*Shape{
				"name": aText, "uses": {kind: list, item: aText}, "input": aValue, "program": instruction,
			},
			aliases: map[string]string{
				"needs": "uses", "depends_on": "uses", "after": "uses", "args": "input", "instruction": "program", "id": "name", "task": "name",
			},
		}},
	},
	aliases: map[string]string{
		"plan": "tasks", "steps": "tasks", "task": "tasks", "purpose": "goal", "settings": "config", "auto_start": "start",
		"id": "agent.id", "budget": "agent.budget", "grants": "agent.grants", "labels": "agent.labels", "env": "agent.env", "program": "agent.program",
		"max_depth": "agent.max_depth", "ttl_ms": "agent.ttl_ms", "teardown": "agent.teardown", "evaluator": "agent.evaluator",
	},
}

// Tool is the file of a tool's registration: its manifest. What is the adapter's, and
// the schemas, are judged by the node.
var Tool = &Shape{
	kind: object,
	members: map[string]*Shape{
		"name":        aText,
		"version":     aText,
		"description": aText,
		"adapter":     aText,
		"config":      aMapping,
		"input":       aSchema,
		"output":      aSchema,
		"timeout_ms":  aInteger,
		"retry": {kind: object, members: map[string]*Shape{
			"max_attempts": aInteger, "backoff_ms": aInteger, "max_backoff_ms": aInteger,
		}, aliases: map[string]string{"attempts": "max_attempts", "backoff": "backoff_ms", "max_backoff": "max_backoff_ms"}},
		"idempotent":  aFlag,
		"concurrency": aInteger,
		"cost":        {kind: object, members: map[string]*Shape{"tokens": aInteger, "usd_micros": aInteger}, aliases: map[string]string{"usd": "usd_micros"}},
		"secrets":     {kind: list, item: aText},
		"resource":    {kind: list, item: aText},
	},
	aliases: map[string]string{
		"timeout": "timeout_ms", "kind": "adapter", "type": "adapter", "args": "input", "parameters": "input", "result": "output", "returns": "output",
		"retries": "retry", "secret": "secrets", "resources": "resource", "costs": "cost", "tool": "name",
	},
}

// MCPServers is the file of servers that a node reaches tools at, as editors write it.
var MCPServers = &Shape{
	kind: object, members: map[string]*Shape{"mcpServers": instruction}, aliases: map[string]string{"mcp_servers": "mcpServers", "servers": "mcpServers"},
}

// instruction is judged by the kernel; here it only has to be a mapping.
var instruction = &Shape{kind: object}

// Stubs is the file of what tools answer in a dry run, by their names.
var Stubs = &Shape{kind: object, rest: &Shape{kind: list, item: &Shape{
	kind:    object,
	members: map[string]*Shape{"args": aMapping, "value": aValue, "code": aText, "message": aText},
	aliases: map[string]string{"result": "value", "answer": "value", "fail": "code", "error": "code", "when": "args"},
}}}
