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
	if n.timeout, refusal = o.timeout(); refusal != nil {
		return n, refusal
	}
	n.handle, refusal = o.flag("handle")
	return n, refusal
}

// timeout compiles timeout_ms.
func (o object) timeout() (operand, *failure.Refusal) {
	op, refusal := o.operand("timeout_ms", value.IntKind)
	if refusal == nil && op.constant.set() && !validTimeout(op.constant.raw) {
		refusal = invalid(o.path+".timeout_ms", timeoutRule, "")
	}
	return op, refusal
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
	if answers := t.answers(); answers != nil {
		return t.take(n, answers[0])
	}
	call, fail := t.request(n)
	if fail != nil {
		return t.failed(fail)
	}
	return t.ask([]Call{call})
}

// ask leaves the tick.
func (t *tick) ask(calls []Call) Result {
	if fail := t.checkStore(); fail != nil {
		return t.failed(fail)
	}
	return Result{Kind: NeedsTool, Calls: calls}
}

func (t *tick) request(n *node) (call Call, fail *failure.Failure) {
	label, fail := t.evaluate(&n.label)
	if fail != nil {
		return call, fail
	}
	if !validTool(label.raw) {
		return call, wrongType(toolRule)
	}
	args, fail := t.evaluate(&n.data)
	if fail != nil {
		return call, fail
	}
	call.Args = args.raw
	call.Tool, _ = label.raw.Text()
	call.TimeoutMillis, fail = t.within(n)
	return call, fail
}

// within evaluates timeout_ms; 0 if it is not given.
func (t *tick) within(n *node) (millis int64, fail *failure.Failure) {
	if !n.timeout.given() {
		return 0, nil
	}
	timeout, fail := t.evaluate(&n.timeout)
	if fail != nil {
		return 0, fail
	}
	if !validTimeout(timeout.raw) {
		return 0, wrongType(timeoutRule)
	}
	millis, _ = timeout.raw.Int()
	return millis, nil
}

// take delivers what a call came to. Unhandled, a failing answer ends the tick
// with its code and message (TO-6, PE-4).
func (t *tick) take(n *node, answer Answer) Result {
	raw, fail := t.unpack(n, answer)
	if fail != nil {
		return t.failed(fail)
	}
	return t.deliver(cell{raw: raw})
}

// unpack gives the value of a call, or its failure.
func (t *tick) unpack(n *node, answer Answer) (value.Raw, *failure.Failure) {
	if answer.Value == nil || !answer.OK {
		answer.Value = value.Null
	}
	if fail := t.checkSize(answer.Value); fail != nil {
		return nil, fail
	}
	if n.handle {
		raw := envelope(answer)
		t.charge(len(raw))
		return raw, checkDepth(raw)
	}
	if !answer.OK {
		return nil, &failure.Failure{Code: answer.Code, Message: failure.Clip(answer.Message)}
	}
	return answer.Value, nil
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
