package agentcheck

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// instruction is one of std/1, with the path that leads to it.
type instruction struct {
	kind    string
	payload map[string]any
	path    string
}

// instructions visits every instruction of a program of std/1 that the agent itself
// runs, outermost first. within are those around it.
func instructions(v any, path string, within []instruction, visit func(in instruction, within []instruction)) {
	switch v := v.(type) {
	case map[string]any:
		kind, isText := v["kind"].(string)
		payload, isMap := v["payload"].(map[string]any)
		if isText && isMap {
			in := instruction{kind, payload, path}
			visit(in, within)
			if kind == "LITERAL" || kind == "DELEGATE" { // data, and others' programs
				return
			}
			instructions(payload, path+".payload", append(within[:len(within):len(within)], in), visit)
			return
		}
		for name, member := range v {
			instructions(member, below(path, name), within, visit)
		}
	case []any:
		for i, item := range v {
			instructions(item, fmt.Sprintf("%s[%d]", path, i), within, visit)
		}
	}
}

func below(path, name string) string {
	name = value.JoinKey(name, "")
	if strings.HasPrefix(name, "[") {
		return path + name
	}
	return path + "." + name
}

// stdUses finds what a program of std/1 asks for.
func stdUses(program any) (uses []use) {
	instructions(program, "program", nil, func(in instruction, _ []instruction) {
		u := use{at: where{field: in.path}, known: map[string]any{}, whole: true}
		switch in.kind {
		case "CALL":
			u.call(in.payload)
		case "PARALLEL":
			calls, _ := in.payload["calls"].([]any)
			for i, one := range calls {
				if m, ok := one.(map[string]any); ok {
					u := use{at: where{field: fmt.Sprintf("%s.payload.calls[%d]", in.path, i)}, known: map[string]any{}, whole: true}
					if u.call(m); u.tool != "" {
						uses = append(uses, u)
					}
				}
			}
		case "READ", "WRITE", "SHARE":
			u.memory(in)
		case "WAIT":
			u.tool = "timer.sleep"
		case "RECEIVE":
			u.tool = "mailbox.receive"
		case "DELEGATE":
			u.tool = "agent.delegate"
		}
		if u.tool != "" {
			uses = append(uses, u)
		}
	})
	return uses
}

// written is a text without any expression in it.
func written(v any) (string, bool) {
	text, ok := v.(string)
	return text, ok && !strings.Contains(text, "${")
}

func (u *use) call(payload map[string]any) {
	u.tool, _ = written(payload["tool"])
	if !strings.Contains(u.tool, "${") && u.tool == "" {
		return
	}
	args, isMap := payload["args"].(map[string]any)
	if payload["args"] != nil && !isMap {
		u.whole = false
	}
	for name, v := range args {
		u.take(name, v)
	}
}

func (u *use) take(name string, v any) {
	if text, isText := v.(string); isText {
		if _, ok := written(text); !ok {
			u.whole = false
			return
		}
	}
	switch v.(type) {
	case string, int64, bool:
		u.known[name] = v
	default:
		u.whole = false
	}
}

func (u *use) memory(in instruction) {
	family, verb := "memory", "read"
	if in.kind == "WRITE" || in.kind == "SHARE" {
		verb = "write"
	}
	if in.kind == "SHARE" || in.payload["namespace"] != nil {
		family = "shared"
	}
	u.tool = family + "." + verb
	for _, name := range [...]string{"key", "namespace", "agent"} {
		if v, ok := in.payload[name]; ok {
			u.take(name, v)
		}
	}
}
