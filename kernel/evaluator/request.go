package evaluator

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// parameter is a member that a tool of the kernel knows. What the kernel can
// only judge when it is asked, such as the form of a key, is not judged here.
type parameter struct {
	key         string
	required    bool
	kind        value.Kind // Invalid: any
	least, most int64      // of an integer
}

// field is an argument of such a tool as a program gives it.
type field struct {
	parameter
	data operand
}

func (p *parameter) accepts(raw value.Raw) bool {
	switch p.kind {
	case value.Invalid:
		return true
	case value.IntKind:
		n, ok := raw.Int()
		return ok && n >= p.least && n <= p.most
	}
	return raw.Kind() == p.kind
}

func (p *parameter) rule() string {
	rule := p.key + " must be " + withArticle(p.kind)
	if p.kind == value.IntKind {
		rule += " from " + strconv.FormatInt(p.least, 10) + " to " + strconv.FormatInt(p.most, 10)
	}
	return rule
}

// fields compiles those of the parameters that are given. The parameters stand
// in canonical order, and so do the fields.
func (o object) fields(parameters []parameter) ([]field, *failure.Refusal) {
	fields := make([]field, 0, len(parameters))
	for _, p := range parameters {
		var wanted []value.Kind
		if p.kind != value.Invalid {
			wanted = []value.Kind{p.kind}
		}
		data, refusal := o.operand(p.key, wanted...)
		switch {
		case refusal != nil:
			return nil, refusal
		case data.given():
			if data.template == nil && !p.accepts(data.constant.raw) {
				return nil, invalid(o.path+"."+p.key, p.rule(), "")
			}
			fields = append(fields, field{p, data})
		case p.required:
			return nil, o.missing(p.key)
		}
	}
	return fields, nil
}

// appendFields appends a map of fields. It stops where the bytes exceed the
// bound on values; the caller checks whether they do.
func (t *tick) appendFields(dst []byte, fields []field) ([]byte, *failure.Failure) {
	dst = value.AppendMapHeader(dst, uint64(len(fields)))
	for i := range fields {
		f := &fields[i]
		v, fail := t.evaluate(&f.data)
		if fail != nil {
			return nil, fail
		}
		if !f.accepts(v.raw) {
			return nil, wrongType(f.rule())
		}
		dst = value.AppendString(dst, f.key)
		dst = append(dst, v.raw...)
		if len(dst) > int(t.maxValue) {
			return nil, tooLarge("what the call is given", t.maxValue)
		}
	}
	return dst, nil
}

// asking compiles an instruction that is a call of one tool of the kernel.
func (c *compiler) asking(o object, tool string, parameters ...parameter) (n node, refusal *failure.Refusal) {
	n = newNode()
	n.more = &more{tool: tool}
	if n.more.fields, refusal = o.fields(parameters); refusal != nil {
		return n, refusal
	}
	n.handle, refusal = o.flag("handle")
	return n, refusal
}

// stepRequest asks for the tool, or takes the answer when there is one.
func (t *tick) stepRequest(n *node) Result {
	if answers := t.answers(); answers != nil {
		if n.op == opRead {
			return t.takeRead(n, answers[0])
		}
		return t.take(n, answers[0])
	}
	args, fail := t.appendFields(nil, n.more.fields)
	if fail == nil {
		t.charge(len(args))
		fail = checkDepth(args)
	}
	if fail != nil {
		return t.failed(fail)
	}
	return t.ask([]Call{{Tool: n.more.tool, Args: args}})
}
