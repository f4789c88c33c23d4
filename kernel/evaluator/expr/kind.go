package expr

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// kindOf is the kind of the data model that v belongs to; Invalid for a value
// that is none of ours.
func kindOf(v starlark.Value) value.Kind {
	switch v.(type) {
	case starlark.NoneType:
		return value.NullKind
	case starlark.Bool:
		return value.BoolKind
	case starlark.Int:
		return value.IntKind
	case starlark.Float:
		return value.FloatKind
	case starlark.String:
		return value.StringKind
	case *List:
		return value.ListKind
	case *Map:
		return value.MapKind
	}
	return value.Invalid
}

// kindName is the word that messages use for v's kind.
func kindName(v starlark.Value) string { return kindOf(v).String() }

func isText(v starlark.Value) bool {
	_, ok := v.(starlark.String)
	return ok
}

// typeNames are the answers of type(x), by kind: Starlark's own names.
var typeNames = [...]string{
	value.Invalid:    "invalid",
	value.NullKind:   "NoneType",
	value.BoolKind:   "bool",
	value.IntKind:    "int",
	value.FloatKind:  "float",
	value.StringKind: "string",
	value.ListKind:   "list",
	value.MapKind:    "dict",
}

// truth is Starlark's: null, false, 0, and everything empty are false.
func truth(v starlark.Value) bool { return bool(v.Truth()) }
