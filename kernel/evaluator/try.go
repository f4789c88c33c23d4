package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// clause is what a TRY does about some failures.
type clause struct {
	codes []string // none: all that can be caught
	as    int32
	body  int32
}

const (
	clausesRule = "must be a list of 1 to 64 clauses"
	codesRule   = "must be a list of 1 to 64 codes"
	codeRule    = "a code is text of 1 to 128 bytes"
)

// try compiles TRY {do, catch: [{codes?, as?, do} …]}.
func (c *compiler) try(raw value.Raw, s scope) (node, *failure.Refusal) {
	n := newNode()
	o, refusal := asObject(raw, s.path, "do", "catch")
	if refusal != nil {
		return n, refusal
	}
	if n.body, refusal = c.inside(o, "do", s); refusal != nil {
		return n, refusal
	}
	if n.body == none {
		return n, o.missing("do")
	}
	catch, given := o.get("catch")
	if !given {
		return n, o.missing("catch")
	}
	path := o.path + ".catch"
	rd := value.NewReader(catch)
	count, ok := rd.ReadListHeader()
	if !ok || count == 0 || count > MaxClauses {
		return n, invalid(path, clausesRule, "")
	}
	n.more = &more{clauses: make([]clause, count)}
	for i := range n.more.clauses {
		at := scope{path: path + value.JoinItem(uint64(i), ""), at: s.at, nesting: s.nesting}
		if n.more.clauses[i], refusal = c.clause(rd.Skip(), at); refusal != nil {
			return n, refusal
		}
	}
	return n, nil
}

func (c *compiler) clause(raw value.Raw, s scope) (cl clause, refusal *failure.Refusal) {
	cl.as = none
	o, refusal := asObject(raw, s.path, "codes", "as", "do")
	if refusal != nil {
		return cl, refusal
	}
	if codes, given := o.get("codes"); given {
		if cl.codes, refusal = codeList(codes, o.path+".codes"); refusal != nil {
			return cl, refusal
		}
	}
	if _, given := o.get("as"); given {
		if cl.as, refusal = c.variable(o, "as"); refusal != nil {
			return cl, refusal
		}
	}
	cl.body, refusal = c.inside(o, "do", s)
	if refusal == nil && cl.body == none {
		refusal = o.missing("do")
	}
	return cl, refusal
}

// codeList reads the codes that a clause names.
func codeList(raw value.Raw, path string) ([]string, *failure.Refusal) {
	rd := value.NewReader(raw)
	count, ok := rd.ReadListHeader()
	if !ok || count == 0 || count > MaxCodes {
		return nil, invalid(path, codesRule, "")
	}
	codes := make([]string, count)
	for i := range codes {
		code, ok := rd.Skip().Text()
		at := path + value.JoinItem(uint64(i), "")
		switch {
		case !ok || code == "" || len(code) > MaxCodeBytes:
			return nil, invalid(at, codeRule, "")
		case !catchable(failure.Code(code)):
			return nil, invalid(at, code+" cannot be caught", "")
		}
		codes[i] = code
	}
	return codes, nil
}

// catching is the first clause of a TRY that names a problem; nil if none does.
func (n *node) catching(p *problem) *clause {
	for i := range n.more.clauses {
		c := &n.more.clauses[i]
		if len(c.codes) == 0 || contains(c.codes, string(p.fail.Code)) || p.code != "" && contains(c.codes, p.code) {
			return c
		}
	}
	return nil
}
