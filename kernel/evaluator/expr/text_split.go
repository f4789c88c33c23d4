package expr

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Methods that take a text apart and put one together.

// pieces collects the parts of a text as texts of their own, each charged
// before it is made.
type pieces struct {
	m       *Meter
	items   []starlark.Value
	problem *failure.Failure
}

func (p *pieces) add(part string) bool {
	if p.problem == nil {
		p.problem = p.m.alloc(slotBytes*growFactor + boxBytes + uint64(len(part)))
	}
	if p.problem == nil && len(p.items)%visitsPerStep == 0 {
		p.problem = p.m.work(1)
	}
	if p.problem != nil {
		return false
	}
	p.items = append(p.items, starlark.String(strings.Clone(part)))
	return true
}

func (p *pieces) finish() (starlark.Value, *failure.Failure) {
	if p.problem == nil {
		p.problem = p.m.alloc(listBytes)
	}
	if p.problem != nil {
		return nil, p.problem
	}
	return asValue(newListWithin(p.m.maxValue, p.items))
}

// split is s.split(separator=white space, maxsplit=all).
func split(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s := receiver(args)
	limit := int64(-1)
	if given := optional(args, 2); given != nil {
		var f *failure.Failure
		if limit, f = intArg("split: maxsplit", given); f != nil {
			return nil, f
		}
	}
	if given := optional(args, 1); given != nil && given != starlark.None {
		return splitAt(m, s, given, limit)
	}
	if f := m.scan(uint64(len(s))); f != nil {
		return nil, f
	}
	p := pieces{m: m}
	rest := strings.TrimLeft(s, blanks)
	for ; rest != "" && limit != 0; limit-- {
		end := strings.IndexAny(rest, blanks)
		if end < 0 {
			break
		}
		if !p.add(rest[:end]) {
			break
		}
		rest = strings.TrimLeft(rest[end:], blanks)
	}
	if rest != "" {
		p.add(rest)
	}
	return p.finish()
}

func splitAt(m *Meter, s string, by starlark.Value, limit int64) (starlark.Value, *failure.Failure) {
	separator, f := textArg("split: separator", by)
	if f != nil {
		return nil, f
	}
	if separator == "" {
		return nil, wrong("split: the separator must not be empty")
	}
	if f := m.scan(uint64(len(s)) + uint64(len(separator))); f != nil {
		return nil, f
	}
	p := pieces{m: m}
	for ; limit != 0; limit-- {
		before, after, found := strings.Cut(s, separator)
		if !found || !p.add(before) {
			break
		}
		s = after
	}
	p.add(s)
	return p.finish()
}

// splitLines cuts at \n, \r\n and \r. A line end at the very end begins no
// further line.
func splitLines(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s := receiver(args)
	if f := m.scan(uint64(len(s))); f != nil {
		return nil, f
	}
	p := pieces{m: m}
	for s != "" {
		end := strings.IndexAny(s, "\r\n")
		if end < 0 {
			p.add(s)
			break
		}
		if !p.add(s[:end]) {
			break
		}
		if strings.HasPrefix(s[end:], "\r\n") {
			end++
		}
		s = s[end+1:]
	}
	return p.finish()
}

func partition(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, separator, f := pair(m, "partition: separator", args)
	if f != nil {
		return nil, f
	}
	return inThree(m, separator, s, strings.Index(s, separator), true)
}

func rpartition(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	s, separator, f := pair(m, "rpartition: separator", args)
	if f != nil {
		return nil, f
	}
	return inThree(m, separator, s, strings.LastIndex(s, separator), false)
}

// inThree gives what is before the separator, the separator, and what is after
// it; without a separator the whole text stands first, or last.
func inThree(m *Meter, separator, s string, at int, first bool) (starlark.Value, *failure.Failure) {
	parts := [3]string{"", "", s}
	switch {
	case separator == "":
		return nil, wrong("the separator must not be empty")
	case at >= 0:
		parts = [3]string{s[:at], separator, s[at+len(separator):]}
	case first:
		parts = [3]string{s, "", ""}
	}
	p := pieces{m: m}
	for _, part := range parts {
		p.add(part)
	}
	return p.finish()
}

// join is separator.join(list): all items must be text.
func join(m *Meter, args []starlark.Value) (starlark.Value, *failure.Failure) {
	separator := receiver(args)
	items, f := itemsArg(m, args[1])
	if f != nil {
		return nil, f
	}
	size := uint64(0)
	for i, item := range items {
		s, ok := item.(starlark.String)
		if !ok {
			return nil, wrong("join needs a list of text; item ", decimal(int64(i)), " is ", kindName(item))
		}
		if i > 0 {
			size += uint64(len(separator))
		}
		size += uint64(len(s))
	}
	if f := m.allocText(size); f != nil {
		return nil, f
	}
	var b strings.Builder
	b.Grow(int(size))
	for i, item := range items {
		if i > 0 {
			b.WriteString(separator)
		}
		b.WriteString(string(item.(starlark.String)))
	}
	return starlark.String(b.String()), nil
}
