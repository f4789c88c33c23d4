package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// fail compiles FAIL {message, code?}.
func (c *compiler) fail(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "message", "code")
	if refusal != nil {
		return n, refusal
	}
	if n.data, refusal = o.required("message", value.StringKind); refusal != nil {
		return n, refusal
	}
	n.label, refusal = o.operand("code", value.StringKind)
	return n, refusal
}

// stepFail fails with the program's own words.
func (t *tick) stepFail(n *node) Result {
	message, fail := t.evaluate(&n.data)
	if fail != nil {
		return t.failed(fail)
	}
	text, ok := message.raw.Text()
	if !ok {
		return t.failed(wrongType("message must be text, not " + describe(message.raw)))
	}
	if n.label.given() {
		label, fail := t.evaluate(&n.label)
		if fail != nil {
			return t.failed(fail)
		}
		code, ok := label.raw.Text()
		if !ok {
			return t.failed(wrongType("code must be text, not " + describe(label.raw)))
		}
		own := problem{code: code, message: text}
		own.fail = &failure.Failure{Code: failure.ProgramFailed, Message: failure.Clip(code + ": " + text)}
		return t.raise(t.at, own)
	}
	return t.failed(&failure.Failure{Code: failure.ProgramFailed, Message: failure.Clip(text)})
}
