package llm

import (
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// completion makes the result of what a service answered:
//
//	message        {role: assistant, content, refusal, tool_calls: [{id, name, arguments}]}
//	finish_reason  stop, length, tool_calls … as the service says
//	usage          {input_tokens, output_tokens}, if it says so
//	model          which one it was
//
// A model writes the arguments of what it asks for itself. What is no JSON stands in
// raw, and arguments is null: an agent can tell the model.
func completion(answer map[string]any, redact func(any) any) tools.Result {
	choices, _ := answer["choices"].([]any)
	if len(choices) == 0 {
		return malformed("has no choices")
	}
	choice, _ := choices[0].(map[string]any)
	said, ok := choice["message"].(map[string]any)
	if !ok {
		return malformed("has no message")
	}
	message := map[string]any{"role": "assistant", "content": said["content"]}
	if said["content"] != nil && !isText(said["content"]) {
		return malformed("has a message whose content is no text")
	}
	if isText(said["refusal"]) {
		message["refusal"] = said["refusal"]
	}
	if list, some := said["tool_calls"].([]any); some && len(list) > 0 {
		asked, broken := calls(list, redact)
		if broken != "" {
			return malformed(broken)
		}
		message["tool_calls"] = asked
	}
	result := map[string]any{"message": message, "finish_reason": "", "model": ""}
	for name, from := range map[string]any{"finish_reason": choice["finish_reason"], "model": answer["model"]} {
		if isText(from) {
			result[name] = from
		}
	}
	if usage, some := answer["usage"].(map[string]any); some {
		result["usage"] = map[string]any{"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]}
	}
	made, problem := value.FromGo(result)
	if problem != nil {
		return malformed("is no value")
	}
	return tools.Succeed(made)
}

func calls(list []any, redact func(any) any) (asked []any, broken string) {
	for _, one := range list {
		call, _ := one.(map[string]any)
		function, _ := call["function"].(map[string]any)
		text, some := function["arguments"].(string)
		if !isText(call["id"]) || !isText(function["name"]) || !some {
			return nil, "asks for a tool without an id, a name or arguments"
		}
		made := map[string]any{"id": call["id"], "name": function["name"]}
		if strings.TrimSpace(text) == "" { // some models say nothing where there is nothing to say
			text = "{}"
		}
		if parsed, problem := value.FromJSON([]byte(text), 4*len(text)+16); problem == nil {
			made["arguments"] = redact(parsed.ToGo())
		} else {
			made["arguments"], made["raw"] = nil, text
		}
		asked = append(asked, made)
	}
	return asked, ""
}

func malformed(what string) tools.Result {
	return tools.Fail(failure.ToolResultInvalid, "the answer is no chat completion: it "+what)
}
