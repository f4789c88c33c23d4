package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const parallelRule = "must be a list of 2 to 64 calls"

// parallel compiles PARALLEL {calls: [{tool, args?, timeout_ms?, handle?} …]}.
func (c *compiler) parallel(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "calls")
	if refusal != nil {
		return n, refusal
	}
	calls, given := o.get("calls")
	if !given {
		return n, o.missing("calls")
	}
	path := o.path + ".calls"
	rd := value.NewReader(calls)
	count, ok := rd.ReadListHeader()
	if !ok || count < 2 || count > MaxParallel {
		return n, invalid(path, parallelRule, "")
	}
	n.more = &more{calls: make([]node, count)}
	for i := range n.more.calls {
		at := scope{path: path + value.JoinItem(uint64(i), ""), at: s.at, nesting: s.nesting}
		if n.more.calls[i], refusal = c.call(rd.Skip(), at); refusal != nil {
			return n, refusal
		}
	}
	return n, nil
}

// stepParallel asks for all tools at once, or takes their answers. All
// arguments together are bounded as one value is.
func (t *tick) stepParallel(n *node) Result {
	if answers := t.answers(); answers != nil {
		return t.takeAll(n, answers)
	}
	calls := make([]Call, len(n.more.calls))
	size := 0
	for i := range calls {
		var fail *failure.Failure
		if calls[i], fail = t.request(&n.more.calls[i]); fail != nil {
			return t.failed(fail)
		}
		if size += len(calls[i].Args); size > int(t.maxValue) {
			return t.failed(tooLarge("what the calls are given together", t.maxValue))
		}
	}
	return t.ask(calls)
}

// takeAll delivers the list of what the calls came to. The first that failed
// and is not handled is the failure of all.
func (t *tick) takeAll(n *node, answers []Answer) Result {
	list := value.Raw(value.AppendListHeader(nil, uint64(len(answers))))
	for i := range answers {
		raw, fail := t.unpack(&n.more.calls[i], answers[i])
		if fail == nil && len(list)+len(raw) > int(t.maxValue) {
			fail = tooLarge("the list of answers", t.maxValue)
		}
		if fail != nil {
			return t.failed(fail)
		}
		list = append(list, raw...)
	}
	t.charge(len(list))
	if fail := checkDepth(list); fail != nil {
		return t.failed(fail)
	}
	return t.deliver(cell{raw: list})
}
