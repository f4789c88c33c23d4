package evaluator

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// object is a map with known fields: an instruction or a payload.
type object struct {
	raw  value.Raw
	path string
}

// asObject refuses what is no map, and a map with a field that is not allowed.
func asObject(raw value.Raw, path string, allowed ...string) (object, *failure.Refusal) {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok {
		return object{}, invalid(path, "must be a map, not "+describe(raw), "its fields: "+strings.Join(allowed, ", "))
	}
	for range n {
		key, _ := rd.ReadString()
		if !contains(allowed, key) {
			return object{}, invalid(joinPath(path, value.JoinKey(key, "")), "unknown field", "known fields: "+strings.Join(allowed, ", "))
		}
		rd.Skip()
	}
	return object{raw, path}, nil
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// describe names the kind of a value.
func describe(raw value.Raw) string { return withArticle(raw.Kind()) }

func withArticle(kind value.Kind) string {
	switch kind {
	case value.NullKind, value.StringKind:
		return kind.String()
	case value.IntKind:
		return "an " + kind.String()
	}
	return "a " + kind.String()
}

// joinPath puts a part behind a path; parts such as [0] need no dot.
func joinPath(path, part string) string {
	if part[0] == '[' {
		return path + part
	}
	return path + "." + part
}

func (o object) get(field string) (value.Raw, bool) { return o.raw.Get(field) }

func (o object) missing(field string) *failure.Refusal {
	return invalid(o.path+"."+field, "is required", "")
}

// text returns a required field that is text, and never evaluated.
func (o object) text(field string) (string, *failure.Refusal) {
	raw, given := o.get(field)
	if !given {
		return "", o.missing(field)
	}
	text, ok := raw.Text()
	if !ok {
		return "", invalid(o.path+"."+field, "must be text, not "+describe(raw), "")
	}
	return text, nil
}

// flag returns an optional field that is true or false, and never evaluated.
func (o object) flag(field string) (bool, *failure.Refusal) {
	raw, given := o.get(field)
	if !given {
		return false, nil
	}
	flag, ok := raw.Bool()
	if !ok {
		return false, invalid(o.path+"."+field, "must be true or false, not "+describe(raw), "")
	}
	return flag, nil
}

// opcode returns the kind of an instruction.
func (o object) opcode() (opcode, *failure.Refusal) {
	kind, refusal := o.text("kind")
	if refusal != nil {
		return 0, refusal
	}
	op, known := opcodeOf(kind)
	if !known {
		return 0, invalid(o.path+".kind", "unknown kind of instruction", "known kinds: "+allKinds)
	}
	return op, nil
}

// operand compiles a field that is evaluated; the zero operand when it is not
// given. A field without expressions must be of one of the wanted kinds
// already here; which one it is otherwise shows when it is evaluated.
func (o object) operand(field string, wanted ...value.Kind) (operand, *failure.Refusal) {
	raw, given := o.get(field)
	if !given {
		return operand{}, nil
	}
	path := o.path + "." + field
	op, refusal := compileOperand(raw, path)
	if refusal != nil || len(wanted) == 0 || op.template != nil {
		return op, refusal
	}
	for _, kind := range wanted {
		if op.constant.raw.Kind() == kind {
			return op, nil
		}
	}
	rule := "must be " + withArticle(wanted[0]) + ", not " + describe(op.constant.raw)
	return op, invalid(path, rule, "an expression stands between ${ and }")
}

// required is operand for a field that must be given.
func (o object) required(field string, wanted ...value.Kind) (operand, *failure.Refusal) {
	op, refusal := o.operand(field, wanted...)
	if refusal == nil && !op.given() {
		refusal = o.missing(field)
	}
	return op, refusal
}
