package httpapi

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/transport/httpapi/recordjson"
)

// kindsByName is every kind of record.
var kindsByName = func() map[string]bus.Kind {
	names := make(map[string]bus.Kind)
	for kind := range bus.Kind(bus.Last + 1) {
		if name := kernel.KindName(kind); name != unknownKind {
			names[name] = kind
		}
	}
	return names
}()

// unknownKind is the name of a number that no kind has.
var unknownKind = kernel.KindName(0)

// kinds reads which kinds of records are wanted: names with commas between.
func (p *params) kinds() *recordjson.Select {
	want := new(recordjson.Select)
	text := p.values.Get("kinds")
	if text == "" {
		return want
	}
	for _, name := range strings.Split(text, ",") {
		kind, ok := kindsByName[name]
		if !ok {
			p.fail("kinds", "there is no kind of record with this name: "+clip(name), "docs/api.md lists them")
			return want
		}
		want.Kinds[kind], want.Some = true, true
	}
	return want
}

// clip bounds what is repeated of a client's words.
func clip(s string) string {
	if len(s) > 64 {
		s = s[:64] + "…"
	}
	return strings.ToValidUTF8(s, "�")
}
