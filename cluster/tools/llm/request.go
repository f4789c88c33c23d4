package llm

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/value"
)

const (
	maxMessages = 1000
	maxTools    = 128
)

// request makes what is sent of a call's arguments, or says what is wrong with them:
//
//	messages         the conversation
//	tools            what the model may ask for
//	tool_choice      auto, none, required, or the name of a tool
//	max_tokens       fewer than the manifest says
//	temperature      another one
//	response_format  as the service knows it
func (c *config) request(args value.Raw) (asked map[string]any, broken string) {
	all, ok := args.ToGo().(map[string]any)
	if !ok {
		return nil, "must be an object with messages"
	}
	asked = map[string]any{"model": c.model, c.limitName: c.maxTokens}
	if len(c.temperature) > 0 {
		asked["temperature"] = c.temperature.ToGo()
	}
	for _, part := range [...]struct {
		name string
		read func(any, map[string]any) string
	}{
		{"messages", readMessages}, {"tools", readTools}, {"tool_choice", readChoice}, {"max_tokens", c.readLimit},
		{"temperature", readTemperature}, {"response_format", readFormat},
	} {
		given, some := all[part.name]
		delete(all, part.name)
		if !some && part.name != "messages" {
			continue
		}
		if broken := part.read(given, asked); broken != "" {
			return nil, broken
		}
	}
	if len(all) > 0 {
		return nil, "has more than messages, tools, tool_choice, max_tokens, temperature and response_format"
	}
	return asked, ""
}

func readTools(given any, asked map[string]any) string {
	list, ok := given.([]any)
	if !ok || len(list) > maxTools {
		return "tools: must be a list of at most 128"
	}
	var sent []any
	for i, one := range list {
		tool, _ := one.(map[string]any)
		function := make(map[string]any, 3)
		for name, member := range tool {
			switch _, isMap := member.(map[string]any); {
			case name == "name" && isFunctionName(member), name == "description" && isText(member), name == "parameters" && isMap:
				function[name] = member
			default:
				return fmt.Sprintf("tools[%d]: must have a name of 1 to 64 letters, digits, _ and -, and may have a description, a text, and parameters, a JSON Schema", i)
			}
		}
		if function["name"] == nil {
			return fmt.Sprintf("tools[%d]: must have a name", i)
		}
		sent = append(sent, map[string]any{"type": "function", "function": function})
	}
	if len(sent) > 0 { // services refuse an empty list
		asked["tools"] = sent
	}
	return ""
}

func readChoice(given any, asked map[string]any) string {
	switch {
	case given == "auto", given == "none", given == "required":
		asked["tool_choice"] = given
	case isFunctionName(given):
		asked["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": given}}
	default:
		return "tool_choice: must be auto, none, required, or the name of a tool"
	}
	return ""
}

func (c *config) readLimit(given any, asked map[string]any) string {
	n, ok := given.(int64)
	if !ok || n < 1 || n > c.maxTokens {
		return fmt.Sprintf("max_tokens: must be from 1 to %d, which is the manifest's", c.maxTokens)
	}
	asked[c.limitName] = n
	return ""
}

func readTemperature(given any, asked map[string]any) string {
	raw, problem := value.FromGo(given)
	if problem != nil || !isTemperature(raw) {
		return "temperature: must be a number from 0 to 2"
	}
	asked["temperature"] = given
	return ""
}

func readFormat(given any, asked map[string]any) string {
	if _, ok := given.(map[string]any); !ok {
		return "response_format: must be an object"
	}
	asked["response_format"] = given
	return ""
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// isFunctionName follows what services take for the name of a function.
func isFunctionName(v any) bool {
	name, ok := v.(string)
	if !ok || name == "" || len(name) > 64 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
