package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const (
	toolRule    = "tool must be text of 1 to 128 bytes"
	timeoutRule = "timeout_ms must be an integer from 1 to 86400000"
)

// call compiles CALL {tool, args?, timeout_ms?, handle?}.
func (c *compiler) call(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "tool", "args", "timeout_ms", "handle")
	if refusal != nil {
		return n, refusal
	}
	if n.label, refusal = o.required("tool", value.StringKind); refusal != nil {
		return n, refusal
	}
	if n.label.template == nil && !validTool(n.label.constant.raw) {
		return n, invalid(o.path+".tool", toolRule, "")
	}
	if n.data, refusal = o.operand("args"); refusal != nil {
		return n, refusal
	}
	if !n.data.given() {
		n.data = constantly(value.EmptyMap)
	}
	if n.timeout, refusal = o.operand("timeout_ms", value.IntKind); refusal != nil {
		return n, refusal
	}
	if n.timeout.constant.set() && !validTimeout(n.timeout.constant.raw) {
		return n, invalid(o.path+".timeout_ms", timeoutRule, "")
	}
	if handle, given := o.get("handle"); given {
		var ok bool
		if n.handle, ok = handle.Bool(); !ok {
			return n, invalid(o.path+".handle", "must be true or false, not "+describe(handle), "")
		}
	}
	return n, nil
}

func validTool(raw value.Raw) bool {
	rd := value.NewReader(raw)
	name, ok := rd.ReadText()
	return ok && len(name) > 0 && len(name) <= MaxToolBytes
}

func validTimeout(raw value.Raw) bool {
	millis, ok := raw.Int()
	return ok && millis >= 1 && millis <= MaxTimeoutMillis
}

// stepCall asks for the tool, or takes the answer when there is one.
func (t *tick) stepCall(n *node) Result {
	if t.answer != nil {
		answer := *t.answer
		t.answer = nil
		return t.take(n, answer)
	}
	call, fail := t.request(n)
	if fail == nil {
		fail = t.checkStore()
	}
	if fail != nil {
		return t.failed(fail)
	}
	return Result{Kind: NeedsTool, Call: call}
}

func (t *tick) request(n *node) (*Call, *failure.Failure) {
	label, fail := t.evaluate(&n.label)
	if fail != nil {
		return nil, fail
	}
	if !validTool(label.raw) {
		return nil, wrongType(toolRule)
	}
	args, fail := t.evaluate(&n.data)
	if fail != nil {
		return nil, fail
	}
	call := &Call{Args: args.raw}
	call.Tool, _ = label.raw.Text()
	if !n.timeout.given() {
		return call, nil
	}
	timeout, fail := t.evaluate(&n.timeout)
	if fail != nil {
		return nil, fail
	}
	if !validTimeout(timeout.raw) {
		return nil, wrongType(timeoutRule)
	}
	call.TimeoutMillis, _ = timeout.raw.Int()
	return call, nil
}

// take delivers what a call came to. Unhandled, a failing answer ends the tick
// with its code and message (TO-6, PE-4).
func (t *tick) take(n *node, answer Answer) Result {
	if answer.Value == nil || !answer.OK {
		answer.Value = value.Null
	}
	if fail := t.checkSize(answer.Value); fail != nil {
		return t.failed(fail)
	}
	if n.handle {
		raw := envelope(answer)
		t.charge(len(raw))
		if fail := checkDepth(raw); fail != nil {
			return t.failed(fail)
		}
		return t.deliver(cell{raw: raw})
	}
	if !answer.OK {
		return t.failed(&failure.Failure{Code: answer.Code, Message: failure.Clip(answer.Message)})
	}
	return t.deliver(cell{raw: answer.Value})
}

// envelope is the value of a handled call. Its keys stand in canonical order.
// It may be larger than the bound on values by as much as the keys, a code and
// a message take: the bound is checked again where it leaves.
func envelope(answer Answer) value.Raw {
	if answer.OK {
		answer.Code, answer.Message = "", ""
	}
	raw := make([]byte, 0, len(answer.Value)+len(answer.Message)+64)
	raw = value.AppendMapHeader(raw, 4)
	raw = value.AppendString(raw, "ok")
	raw = value.AppendBool(raw, answer.OK)
	raw = value.AppendString(raw, "code")
	raw = value.AppendString(raw, string(answer.Code))
	raw = value.AppendString(raw, "value")
	raw = append(raw, answer.Value...)
	raw = value.AppendString(raw, "message")
	return value.AppendString(raw, failure.Clip(answer.Message))
}
