package show

import (
	"fmt"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// MemoryValue shows a stored value alone, so that it can be piped.
func MemoryValue(p *tell.Page, v api.MemoryValue) { p.Line("%s", compact(v.Value)) }

// MemoryKeys shows a list of keys.
func MemoryKeys(p *tell.Page, page api.MemoryPage) {
	rows := make([][]string, 0, len(page.Keys))
	for _, k := range page.Keys {
		rows = append(rows, []string{k.Key, number(k.Version), number(k.Bytes), when(k.AtMillis), writer(k.WriterID)})
	}
	if len(rows) > 0 {
		p.Table([]string{"KEY", "VERSION", "BYTES", "WRITTEN", "BY"}, rows)
	}
	ending(p, len(rows), "keys", page.As, page.Next)
}

// Shared tells that shared memory was changed.
func Shared(p *tell.Page, what, namespace, key string, d api.Done) {
	version := ""
	if d.Version > 0 {
		version = ", version " + number(d.Version)
	}
	again := ""
	if d.Repeated {
		again = " (before: this is the first answer again)"
	}
	p.Line("%s %s%s%s", what, p.Accent(namespace+"/"+key), version, again)
	p.Line("%s", p.Faint(fmt.Sprintf("as of index %d, busSeq %d, answered by %s", d.Index, d.BusSeq, d.Node)))
}

func writer(id string) string {
	if id == "" {
		return "an operator"
	}
	return id
}

// ending is the last line of a list: how many there are, as of when, and how to
// go on.
func ending(p *tell.Page, n int, what string, as api.As, next string) {
	p.Line("%s", p.Faint(fmt.Sprintf("%d %s, %s", n, what, asOf(as))))
	if next != "" {
		p.Line("%s", p.Faint("more: add --after "+next))
	}
}
