package llm

import (
	"encoding/json"
	"fmt"
)

// readMessages makes the conversation. A message is as results have it, so that a
// model's own can be handed back as they came:
//
//	{role: system|developer|user, content}
//	{role: assistant, content, refusal, tool_calls: [{id, name, arguments}]}
//	{role: tool, tool_call_id, content}      of any value; JSON unless it is text
func readMessages(given any, asked map[string]any) string {
	list, ok := given.([]any)
	if !ok || len(list) == 0 || len(list) > maxMessages {
		return "messages: must be a list of 1 to 1000 messages"
	}
	sent := make([]any, len(list))
	for i, one := range list {
		message, _ := one.(map[string]any)
		var broken string
		if sent[i], broken = readMessage(message); broken != "" {
			return fmt.Sprintf("messages[%d]: %s", i, broken)
		}
	}
	asked["messages"] = sent
	return ""
}

func readMessage(message map[string]any) (sent map[string]any, broken string) {
	sent = make(map[string]any, len(message))
	role, _ := message["role"].(string)
	members, ok := map[string][]string{
		"system": {"content"}, "developer": {"content"}, "user": {"content"},
		"assistant": {"content", "refusal", "tool_calls"}, "tool": {"content", "tool_call_id"},
	}[role]
	if !ok {
		return nil, "role must be system, developer, user, assistant or tool"
	}
	sent["role"] = role
	taken := 1
	for _, name := range members {
		member, some := message[name]
		if some {
			taken++
		}
		switch name {
		case "content":
			sent[name], broken = readContent(role, member)
		case "tool_calls":
			if some {
				sent[name], broken = readCalls(member)
			}
		case "refusal":
			if some && member != nil {
				sent[name] = member
			}
		case "tool_call_id":
			if sent[name] = member; !isText(member) {
				broken = "must have a tool_call_id, which says what it answers"
			}
		}
		if broken != "" {
			return nil, broken
		}
	}
	if taken != len(message) {
		return nil, fmt.Sprintf("has more than a message of %s may have", role)
	}
	return sent, ""
}

func readContent(role string, content any) (sent any, broken string) {
	_, parts := content.([]any)
	switch {
	case isText(content), parts && role != "tool", content == nil && role == "assistant":
		return content, ""
	case role == "tool":
		text, err := json.Marshal(content)
		if err != nil {
			return nil, "content must be a value"
		}
		return string(text), ""
	}
	return nil, "content must be a text or a list of parts"
}

// readCalls undoes what calls does.
func readCalls(given any) (sent []any, broken string) {
	list, ok := given.([]any)
	if !ok || len(list) == 0 {
		return nil, "tool_calls must be a list, or not be there"
	}
	for _, one := range list {
		call, _ := one.(map[string]any)
		id, name := call["id"], call["name"]
		arguments, some := call["raw"].(string)
		if !some {
			text, err := json.Marshal(call["arguments"])
			if err != nil {
				return nil, "arguments of tool_calls must be values"
			}
			arguments = string(text)
		}
		if !isText(id) || !isText(name) {
			return nil, "tool_calls must have id and name"
		}
		sent = append(sent, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": name, "arguments": arguments}})
	}
	return sent, ""
}
