package show

import (
	"fmt"
	"strings"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Registered tells that a tool was registered, or was there as it is.
func Registered(p *tell.Page, name string, d api.Done) {
	what := "registered"
	switch {
	case d.Version < d.BusSeq:
		what = "unchanged: this is how it is registered already,"
	case d.Repeated:
		what = "registered (before: this is the first answer again)"
	}
	p.Line("%s %s, revision %d", what, p.Accent(name), d.Version)
	p.Line("%s", p.Faint(fmt.Sprintf("as of index %d, busSeq %d, answered by %s", d.Index, d.BusSeq, d.Node)))
}

// Deregistered tells that a tool was taken away.
func Deregistered(p *tell.Page, name string, d api.Done) {
	p.Line("deregistered %s; running calls go on", p.Accent(name))
	p.Line("%s", p.Faint(fmt.Sprintf("as of index %d, busSeq %d, answered by %s", d.Index, d.BusSeq, d.Node)))
}

// Tools shows a list of registered tools.
func Tools(p *tell.Page, page api.ToolPage) {
	rows := make([][]string, 0, len(page.Tools))
	for i := range page.Tools {
		t := &page.Tools[i]
		rows = append(rows, []string{t.Name, t.Version, t.Adapter, number(t.Revision), fmt.Sprint(t.Calls), when(t.AtMillis), firstLine(t.Description)})
	}
	if len(rows) > 0 {
		p.Table([]string{"NAME", "VERSION", "ADAPTER", "REVISION", "CALLS", "REGISTERED", "DESCRIPTION"}, rows)
	}
	ending(p, len(rows), "tools", page.As, page.Next)
}

// firstLine keeps a row in its place.
func firstLine(text string) string {
	const most = 60
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return line
}

// Tool shows one registered tool.
func Tool(p *tell.Page, t api.Tool) {
	m := &t.Manifest
	p.Line("%s %s", p.Accent(m.Name), m.Version)
	if m.Description != "" {
		p.Line("%s", m.Description)
	}
	p.Line("revision     %d, registered %s", t.Revision, when(t.AtMillis))
	p.Line("adapter      %s %s", m.Adapter, compact(m.Config))
	p.Line("input        %s", schemaLine(m.Input))
	p.Line("output       %s", schemaLine(m.Output))
	resource := m.Name
	for _, name := range m.Segments {
		resource += "/{" + name + "}"
	}
	p.Line("judged as    tool.call on %s", resource)
	again := "a call must not be made twice"
	if m.Idempotent {
		again = "a call may be made again"
	}
	p.Line("again        %s; at most %d attempts", again, max(m.Retry.MaxAttempts, 1))
	p.Line("time         %s", orKernel(m.TimeoutMillis))
	if m.Cost.Tokens > 0 || m.Cost.USDMicros > 0 {
		p.Line("cost         at most %d tokens, %d usd_micros", m.Cost.Tokens, m.Cost.USDMicros)
	}
	if len(m.Secrets) > 0 {
		p.Line("secrets      %s", strings.Join(m.Secrets, ", "))
	}
	p.Line("running      %d calls", t.Calls)
	for _, e := range t.Earlier {
		p.Line("             %d calls with revision %d %s", e.Calls, e.Revision, e.Version)
	}
	p.Line("%s", p.Faint(asOf(t.As)))
}

func orKernel(millis int64) string {
	if millis == 0 {
		return "the kernel's default_call_timeout_ms"
	}
	return fmt.Sprintf("%d ms", millis)
}

func schemaLine(raw []byte) string {
	if len(raw) == 0 {
		return "anything"
	}
	return compact(raw)
}
