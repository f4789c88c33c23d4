package evaluator

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// cell holds a value in both of its forms: as canonical bytes, which is what it
// is, and as an expression sees it, which is made from the bytes when it is
// first looked at. The zero cell is no value.
//
// The two forms are one value, however it came to be: package expr keeps maps
// in canonical order and integral numbers as integers. So a value looks the
// same to what follows whether the tick ran straight on or was restored from a
// checkpoint. Both forms are immutable (EX-1).
type cell struct {
	raw  value.Raw
	seen starlark.Value
}

func (c *cell) set() bool { return c.raw != nil }

// view returns the form that expressions see and the bytes read to make it.
func (c *cell) view() (v starlark.Value, read int) {
	if c.seen == nil {
		c.seen = expr.FromRaw(c.raw)
		read = len(c.raw)
	}
	return c.seen, read
}

// nothing is the value of an instruction that has none.
var nothing = cell{raw: value.Null, seen: starlark.None}
