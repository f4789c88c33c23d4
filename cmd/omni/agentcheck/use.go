package agentcheck

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// use is one place of a program that asks for a tool whose name is written out.
type use struct {
	tool  string
	known map[string]any // arguments that are written out
	whole bool           // … and there are no others
	at    where
}

// need is what somebody must grant for a use: an action, and a pattern of the resources
// that it may be judged as.
type need struct {
	action, resource string
	exact            bool // the resource is one, not a pattern
}

// needOf says what a use is judged as, as far as its arguments are known (PE-1).
func (c *checker) needOf(u use) need {
	switch family, verb, _ := strings.Cut(u.tool, "."); {
	case u.tool == "agent.delegate":
		return need{action: "agent.delegate", resource: "agent/**"}
	case family == "agent":
		return need{action: u.tool, resource: "agent/**"}
	case family == "memory":
		owner := "self"
		if u.known["agent"] == "parent" {
			owner = "parent"
		}
		return keyed("memory."+reading(verb), owner, u)
	case family == "shared":
		namespace, ok := u.known["namespace"].(string)
		if !ok {
			return need{action: "shared." + reading(verb), resource: "**"}
		}
		return keyed("shared."+reading(verb), namespace, u)
	}
	return c.toolNeed(u)
}

// reading: a listing is judged as a read of its prefix.
func reading(verb string) string {
	if verb == "list" {
		return "read"
	}
	return verb
}

func keyed(action, under string, u use) need {
	if key, ok := u.known["key"].(string); ok && key != "" {
		return need{action: action, resource: under + "/" + key, exact: true}
	}
	return need{action: action, resource: under + "/**"}
}

func (c *checker) toolNeed(u use) need {
	const action = "tool.call"
	if u.whole {
		if args, problem := value.FromGo(u.known); problem == nil {
			if resource, ok := c.resource(u.tool, args); ok {
				return need{action, resource, true}
			}
		}
	}
	if m := c.manifests[u.tool]; m != nil {
		resource := m.Name
		for _, name := range m.Segments {
			segment := "*"
			switch known := u.known[name].(type) {
			case string, int64:
				segment = fmt.Sprint(known)
			}
			resource += "/" + segment
		}
		return need{action, resource, !strings.Contains(resource, "*")}
	}
	if u.tool == tools.HTTPTool {
		method, ok := u.known["method"].(string)
		if !ok {
			method = "*"
		}
		return need{action, u.tool + "/" + method + "/**", false}
	}
	return need{action, u.tool, true}
}

// resource is what a call with these arguments is judged as.
func (c *checker) resource(tool string, args value.Raw) (string, bool) {
	t, ok := tools.Find(tool)
	if !ok || t.Family != 0 {
		return "", false
	}
	resource, broken := t.Resource(args)
	return resource, broken == nil
}
