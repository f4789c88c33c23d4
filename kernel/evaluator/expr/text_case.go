package expr

import (
	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Case and classes of letters. ASCII only: Unicode's tables follow the Go
// version, and what a program computes must not.

func isLetter(c byte) bool    { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDecDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLowerCase(c byte) bool { return c >= 'a' && c <= 'z' }
func isUpperCase(c byte) bool { return c >= 'A' && c <= 'Z' }
func isBlank(c byte) bool     { return c == ' ' || c >= '\t' && c <= '\r' }
func isWord(c byte) bool      { return isLetter(c) || isDecDigit(c) }
func toLowerCase(c byte) byte { return flip(c, isUpperCase(c)) }
func toUpperCase(c byte) byte { return flip(c, isLowerCase(c)) }
func flip(c byte, do bool) byte {
	if do {
		return c ^ 0x20
	}
	return c
}

func lower(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return mapped(m, args, func(_ bool, c byte) byte { return toLowerCase(c) })
}

func upper(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return mapped(m, args, func(_ bool, c byte) byte { return toUpperCase(c) })
}

// title makes the first letter of every word upper case and the others lower.
func title(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return mapped(m, args, func(inWord bool, c byte) byte {
		if inWord {
			return toLowerCase(c)
		}
		return toUpperCase(c)
	})
}

// capitalize makes the first letter upper case and the others lower.
func capitalize(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	first := true
	return mapped(m, args, func(_ bool, c byte) byte {
		if first {
			first = false
			return toUpperCase(c)
		}
		return toLowerCase(c)
	})
}

// mapped changes every byte of the text; inWord tells whether a letter, or a
// byte beyond ASCII, stands before it.
func mapped(m *Meter, args []starlark.Value, change func(inWord bool, c byte) byte) (starlark.Value, *failure.Failure) {
	s := receiver(args)
	if f := m.allocText(uint64(len(s))); f != nil {
		return nil, f
	}
	if f := m.alloc(uint64(len(s))); f != nil {
		return nil, f
	}
	out := make([]byte, len(s))
	inWord := false
	for i := range len(s) {
		out[i] = change(inWord, s[i])
		inWord = isLetter(s[i]) || s[i] >= 0x80
	}
	return starlark.String(out), nil
}

func isAlnum(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return every(m, args, isWord)
}

func isAlpha(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return every(m, args, isLetter)
}

func isDigit(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return every(m, args, isDecDigit)
}

func isSpace(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return every(m, args, isBlank)
}

// every tells whether the text is not empty and all its bytes are of a class.
func every(m *Meter, args []starlark.Value, class func(c byte) bool) (starlark.Value, *failure.Failure) {
	s := receiver(args)
	if f := m.scan(uint64(len(s))); f != nil {
		return nil, f
	}
	for i := range len(s) {
		if !class(s[i]) {
			return starlark.False, nil
		}
	}
	return starlark.Bool(s != ""), nil
}

func isLower(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return cased(m, args, isLowerCase, isUpperCase)
}

func isUpper(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	return cased(m, args, isUpperCase, isLowerCase)
}

// cased tells whether some byte is of the wanted class and none of the other.
func cased(m *Meter, args []starlark.Value, wanted, other func(c byte) bool) (starlark.Value, *failure.Failure) {
	s := receiver(args)
	if f := m.scan(uint64(len(s))); f != nil {
		return nil, f
	}
	found := false
	for i := range len(s) {
		if other(s[i]) {
			return starlark.False, nil
		}
		found = found || wanted(s[i])
	}
	return starlark.Bool(found), nil
}
