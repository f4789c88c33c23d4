package expr

import (
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Methods of text that look for a part or cut one off. Positions count code
// points; letters have no case beyond ASCII.

func receiver(args []starlark.Value) string { return string(args[0].(starlark.String)) }

// pair is the receiver and one argument that must be text, charged for one
// pass over both.
func pair(m *Meter, name string, args []starlark.Value) (s, arg string, f *failure.Failure) {
	s = receiver(args)
	if arg, f = textArg(name, args[1]); f != nil {
		return "", "", f
	}
	return s, arg, m.scan(uint64(len(s)) + uint64(len(arg)))
}

func findText(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, part, f := pair(m, "find: part", args)
	if f != nil {
		return nil, f
	}
	return pointIndex(s, strings.Index(s, part)), nil
}

func rfindText(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, part, f := pair(m, "rfind: part", args)
	if f != nil {
		return nil, f
	}
	return pointIndex(s, strings.LastIndex(s, part)), nil
}

func indexText(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, part, f := pair(m, "index: part", args)
	if f != nil {
		return nil, f
	}
	at := strings.Index(s, part)
	if at < 0 {
		return nil, wrong("index: the text has no part ", quoted(part))
	}
	return pointIndex(s, at), nil
}

// pointIndex turns an offset in bytes into one in code points; -1 stays.
func pointIndex(s string, at int) starlark.Value {
	if at < 0 {
		return starlark.MakeInt(-1)
	}
	return starlark.MakeInt(utf8.RuneCountInString(s[:at]))
}

func countText(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, part, f := pair(m, "count: part", args)
	if f != nil {
		return nil, f
	}
	return starlark.MakeInt(strings.Count(s, part)), nil
}

func startsWith(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return affix(m, "startswith", args, strings.HasPrefix)
}

func endsWith(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return affix(m, "endswith", args, strings.HasSuffix)
}

// affix tries one text or each of a list.
func affix(m *Meter, name string, args []starlark.Value, has func(s, affix string) bool) (starlark.Value, *failure.Failure) {
	s, tries := receiver(args), args[1:]
	if list, ok := args[1].(*List); ok {
		tries = list.items
		if f := m.search(list); f != nil {
			return nil, f
		}
	}
	for _, try := range tries {
		part, ok := try.(starlark.String)
		if !ok {
			return nil, wrong(name, " needs text or a list of text, not ", kindName(try))
		}
		if f := m.scan(uint64(min(len(s), len(part)))); f != nil {
			return nil, f
		}
		if has(s, string(part)) {
			return starlark.True, nil
		}
	}
	return starlark.False, nil
}

func removePrefix(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, prefix, f := pair(m, "removeprefix: prefix", args)
	if f != nil {
		return nil, f
	}
	return cutOff(m, args[0], s, strings.TrimPrefix(s, prefix))
}

func removeSuffix(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, suffix, f := pair(m, "removesuffix: suffix", args)
	if f != nil {
		return nil, f
	}
	return cutOff(m, args[0], s, strings.TrimSuffix(s, suffix))
}

// cutOff returns whole when nothing was cut, else a copy of what is left.
func cutOff(m *Meter, whole starlark.Value, s, left string) (starlark.Value, *failure.Failure) {
	if len(left) == len(s) {
		return whole, nil
	}
	return copyText(m, left)
}

// blanks are what strip and split take as white space: ASCII only.
const blanks = " \t\n\v\f\r"

func strip(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return stripped(m, args, strings.Trim)
}

func lstrip(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return stripped(m, args, strings.TrimLeft)
}

func rstrip(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return stripped(m, args, strings.TrimRight)
}

// stripped cuts off letters of a set; every letter of the text may be compared
// with every one of the set.
func stripped(m *Meter, args []starlark.Value, trim func(s, letters string) string) (starlark.Value, *failure.Failure) {
	s, letters := receiver(args), blanks
	if given := optional(args, 1); given != nil && given != starlark.None {
		var f *failure.Failure
		if letters, f = textArg("strip: letters", given); f != nil {
			return nil, f
		}
	}
	cost := uint64(len(s)) + uint64(len(letters))
	if !isASCII(letters) {
		cost = uint64(len(s)+1) * uint64(len(letters))
	}
	if f := m.scan(cost); f != nil {
		return nil, f
	}
	return cutOff(m, args[0], s, trim(s, letters))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// replace is s.replace(old, new, count=all). An empty old stands before every
// code point and at the end.
func replace(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, old, f := pair(m, "replace: old", args)
	if f != nil {
		return nil, f
	}
	by, f := textArg("replace: new", args[2])
	if f != nil {
		return nil, f
	}
	count := int64(strings.Count(s, old))
	if given := optional(args, 3); given != nil {
		limit, f := intArg("replace: count", given)
		if f != nil {
			return nil, f
		}
		if limit >= 0 {
			count = min(count, limit)
		}
	}
	if count == 0 {
		return args[0], nil
	}
	size := int64(len(s)) + count*(int64(len(by))-int64(len(old)))
	if f := m.allocText(uint64(size)); f != nil {
		return nil, f
	}
	return starlark.String(strings.Replace(s, old, by, int(count))), nil
}
