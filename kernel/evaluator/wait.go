package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func millis(key string, required bool) parameter {
	return parameter{key: key, required: required, kind: value.IntKind, least: 1, most: MaxTimeoutMillis}
}

// wait compiles WAIT {ms}: a call of timer.sleep.
func (c *compiler) wait(raw value.Raw, s scope) (node, *failure.Refusal) {
	o, refusal := asObject(raw, s.path, "ms")
	if refusal != nil {
		return newNode(), refusal
	}
	return c.asking(o, "timer.sleep", millis("ms", true))
}

// receive compiles RECEIVE {timeout_ms?, handle?}: a call of mailbox.receive.
func (c *compiler) receive(raw value.Raw, s scope) (node, *failure.Refusal) {
	o, refusal := asObject(raw, s.path, "timeout_ms", "handle")
	if refusal != nil {
		return newNode(), refusal
	}
	return c.asking(o, "mailbox.receive", millis("timeout_ms", false))
}
