package evaluator

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const childrenRule = "must be a list of 1 to 1000 children, or a map of over, as and child"

// childParameters are the members of a child in canonical order. The kernel
// judges what they mean.
func childParameters() []parameter {
	return []parameter{
		{key: "env", kind: value.MapKind},
		{key: "mode", kind: value.StringKind},
		{key: "name", kind: value.StringKind},
		{key: "input"},
		{key: "budget", kind: value.MapKind},
		{key: "grants", kind: value.ListKind},
		{key: "labels", kind: value.MapKind},
		{key: "ttl_ms", kind: value.IntKind, least: 1, most: value.MaxInt},
		{key: "program", required: true},
		{key: "teardown"},
		{key: "evaluator", kind: value.StringKind},
		{key: "max_depth", kind: value.IntKind, most: value.MaxInt},
	}
}

// children compiles the children of a DELEGATE.
func (c *compiler) children(o object, f *family) *failure.Refusal {
	raw, given := o.get("children")
	if !given {
		return o.missing("children")
	}
	path := o.path + ".children"
	rd := value.NewReader(raw)
	if rd.Kind() == value.MapKind {
		return c.eachChild(raw, path, f)
	}
	count, ok := rd.ReadListHeader()
	if !ok || count == 0 || count > MaxChildren {
		return invalid(path, childrenRule, "")
	}
	f.children = make([][]field, count)
	for i := range f.children {
		var refusal *failure.Refusal
		if f.children[i], refusal = c.child(rd.Skip(), path+value.JoinItem(uint64(i), "")); refusal != nil {
			return refusal
		}
	}
	return nil
}

// eachChild compiles children that are made from the items of a list. What
// does not depend on the item stands in the request once.
func (c *compiler) eachChild(raw value.Raw, path string, f *family) *failure.Refusal {
	o, refusal := asObject(raw, path, "over", "as", "child")
	if refusal != nil {
		return refusal
	}
	if f.over, refusal = o.required("over", value.ListKind); refusal != nil {
		return refusal
	}
	if f.as, refusal = c.variable(o, "as"); refusal != nil {
		return refusal
	}
	child, given := o.get("child")
	if !given {
		return o.missing("child")
	}
	fields, refusal := c.child(child, path+".child")
	for _, field := range fields {
		if field.data.template == nil {
			f.common = append(f.common, field)
		} else {
			f.each = append(f.each, field)
		}
	}
	return refusal
}

// child compiles one child. Its programs are taken as they stand: what looks
// like an expression in them is the child's.
func (c *compiler) child(raw value.Raw, path string) ([]field, *failure.Refusal) {
	parameters := childParameters()
	known := make([]string, len(parameters))
	for i := range parameters {
		known[i] = parameters[i].key
	}
	o, refusal := asObject(raw, path, known...)
	if refusal != nil {
		return nil, refusal
	}
	var fields []field
	for _, p := range parameters {
		switch p.key {
		case "program", "teardown":
			literal, given := o.get(p.key)
			if given {
				fields = append(fields, field{p, operand{constant: cell{raw: literal}}})
				refusal = c.childProgram(o, literal, p.key)
			} else if p.required {
				refusal = o.missing(p.key)
			}
		default:
			var one []field
			one, refusal = o.fields([]parameter{p})
			fields = append(fields, one...)
		}
		if refusal != nil {
			return nil, refusal
		}
	}
	return fields, nil
}

// childProgram compiles a program of a child, to refuse it now. One for another
// evaluator is left to the kernel, and so is one whose evaluator shows only
// when it is asked for.
func (c *compiler) childProgram(o object, raw value.Raw, key string) *failure.Refusal {
	if name, given := o.get("evaluator"); given {
		text, _ := name.Text()
		if text != StdName {
			return nil
		}
	}
	path := o.path + "." + key
	if c.generation == MaxGenerations {
		return invalid(path, "programs of children stand inside each other more than 8 deep", "")
	}
	_, refusal := compileAt(raw, path, c.generation+1)
	return refusal
}
