package onecall

import (
	"encoding/json"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Start is the agent that makes the call. The arguments are its input, so that
// nothing in them is taken for an expression. The call may take timeout
// milliseconds, or as long as the tool says when that is 0. The Problem is the
// tool's name.
func Start(tool string, args value.Raw, timeout int64) (event.Start, *value.Problem) {
	payload := map[string]any{"tool": tool, "args": "${input}", "handle": true}
	if timeout != 0 {
		payload["timeout_ms"] = timeout
	}
	program, problem := value.FromGo(map[string]any{"kind": "CALL", "payload": payload})
	if problem != nil {
		return event.Start{}, problem
	}
	return event.Start{Input: args, Define: event.Define{
		Name: "tool-test", Program: program,
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: tool + "/**"}},
	}}, nil
}

// Answer is what the call came to: a value, or a failure's code and message.
type Answer struct {
	OK      bool      `json:"ok"`
	Value   value.Raw `json:"value,omitempty"`
	Code    string    `json:"code,omitempty"`
	Message string    `json:"message,omitempty"`
}

// AnswerOf reads it from the agent that made the call; false when that has none.
func AnswerOf(agent api.Agent) (answer Answer, ok bool) {
	ok = agent.Result != nil && json.Unmarshal(agent.Result.AppendJSON(nil), &answer) == nil
	return answer, ok
}
