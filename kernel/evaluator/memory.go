package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Parameters of the tools of memory, each list in canonical order.

func aKey() parameter { return parameter{key: "key", kind: value.StringKind, required: true} }

func aNamespace() parameter {
	return parameter{key: "namespace", kind: value.StringKind, required: true}
}

func aValue() parameter { return parameter{key: "value", required: true} }

func aVersion() parameter { return parameter{key: "version", kind: value.IntKind, most: value.MaxInt} }

// read compiles READ {key, agent?, namespace?, default?, handle?}: a call of
// memory.read, or of shared.read if there is a namespace.
func (c *compiler) read(raw value.Raw, s scope) (node, *failure.Refusal) {
	o, refusal := asObject(raw, s.path, "key", "agent", "namespace", "default", "handle")
	if refusal != nil {
		return newNode(), refusal
	}
	agent, ofAgent := o.get("agent")
	_, shared := o.get("namespace")
	if name, _ := agent.Text(); ofAgent && name != "parent" {
		return newNode(), invalid(o.path+".agent", "must be parent: no other agent's memory can be read", "")
	}
	if ofAgent && shared {
		return newNode(), invalid(o.path, "only one of agent and namespace may be given", "")
	}
	var n node
	if shared {
		n, refusal = c.asking(o, "shared.read", aKey(), aNamespace())
	} else {
		n, refusal = c.asking(o, "memory.read", aKey(), parameter{key: "agent", kind: value.StringKind})
	}
	if refusal != nil {
		return n, refusal
	}
	n.data, refusal = o.operand("default")
	return n, refusal
}

// takeRead delivers what is stored, or the default.
func (t *tick) takeRead(n *node, answer Answer) Result {
	if !answer.OK {
		return t.take(n, answer)
	}
	member, _ := answer.Value.Get("found")
	found, ok := member.Bool()
	stored, has := answer.Value.Get("value")
	switch {
	case !ok || found && !has:
		answer = Answer{Code: failure.ToolResultInvalid, Message: "what " + n.more.tool + " answered is no found, value and version"}
	case found:
		answer.Value = stored
	case n.data.given():
		absent, fail := t.evaluate(&n.data)
		if fail != nil {
			return t.failed(fail)
		}
		answer.Value = absent.raw
	default:
		answer.Value = value.Null
	}
	return t.take(n, answer)
}

// write compiles WRITE {key, value, version?, handle?}.
func (c *compiler) write(raw value.Raw, s scope) (node, *failure.Refusal) {
	o, refusal := asObject(raw, s.path, "key", "value", "version", "handle")
	if refusal != nil {
		return newNode(), refusal
	}
	return c.asking(o, "memory.write", aKey(), aValue(), aVersion())
}

// share compiles SHARE {namespace, key, value, version?, handle?}.
func (c *compiler) share(raw value.Raw, s scope) (node, *failure.Refusal) {
	o, refusal := asObject(raw, s.path, "namespace", "key", "value", "version", "handle")
	if refusal != nil {
		return newNode(), refusal
	}
	return c.asking(o, "shared.write", aKey(), aValue(), aVersion(), aNamespace())
}
