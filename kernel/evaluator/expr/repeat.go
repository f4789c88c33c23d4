package expr

import (
	"strings"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// repetitions reads the count of a repetition: 0 for a negative one, at most
// one more than a value's bytes, which is too many of anything.
func (m *Meter) repetitions(n starlark.Int) uint64 {
	if n.Sign() <= 0 {
		return 0
	}
	if count, ok := n.Int64(); ok && count <= int64(m.maxValue) {
		return uint64(count)
	}
	return uint64(m.maxValue) + 1
}

func repeatText(m *Meter, s string, n starlark.Int) (starlark.Value, *failure.Failure) {
	count := m.repetitions(n)
	if s == "" || count == 0 {
		return starlark.String(""), nil
	}
	if f := m.allocText(uint64(len(s)) * count); f != nil {
		return nil, f
	}
	return starlark.String(strings.Repeat(s, int(count))), nil
}

func repeatList(m *Meter, list *List, n starlark.Int) (starlark.Value, *failure.Failure) {
	count := m.repetitions(n)
	if len(list.items) == 0 {
		count = 0
	}
	if f := m.allocList(uint64(len(list.items)) * count); f != nil {
		return nil, f
	}
	items := make([]starlark.Value, 0, len(list.items)*int(count))
	for range count {
		items = append(items, list.items...)
	}
	return asValue(newList(items))
}
