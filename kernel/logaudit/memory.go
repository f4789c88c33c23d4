package logaudit

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
)

// access looks at MEMORY_ACCESS of an agent: it must be what was judged.
func (a *Auditor) access(g *agent, b *memory.Access) {
	a.report.Accesses++
	c := g.call(a.record.Tick, b.Call)
	if c == nil {
		a.missing(g, b.Call, "touches memory")
		return
	}
	switch force := a.force(g); {
	case c.ended:
		a.found(Twice, "call %d touches memory after its answer", c.no)
	case c.verdict != allowed:
		a.found(Unjudged, "call %d touches memory, and no ALLOW for it comes before", c.no)
	case !isAccess(g, c, b):
		a.found(Unjudged, "call %d touches another memory than was asked for and judged", c.no)
	case force.lost && g.state() != lifecycle.Completing: // a teardown ends as it began (LC-10)
		a.found(Authority, "call %d touches memory on %s", c.no, a.why(g, force))
	}
	c.verdict = allowed
}

// isAccess reports whether the access is the one that the call asks for.
func isAccess(g *agent, c *call, b *memory.Access) bool {
	scope, word := "memory.", "self"
	switch {
	case b.Scope == memory.ScopeShared:
		scope, word = "shared.", b.Namespace
	case b.Owner != g.no:
		word = "parent"
		if b.Owner != g.holds.Parent() {
			return false
		}
	}
	op, found := strings.CutPrefix(c.tool, scope)
	if !found || op != b.Op.String() || len(c.resources) != 1 {
		return false
	}
	rest, found := strings.CutPrefix(c.resources[0], word)
	if b.Key == "" {
		return found && rest == ""
	}
	return found && strings.HasPrefix(rest, "/") && rest[1:] == b.Key
}

// sharedAccess looks at a record of no agent: operators write shared memory by
// events of their own.
func (a *Auditor) sharedAccess() {
	if a.record.Kind != bus.MemoryAccess {
		return
	}
	a.report.Accesses++
	b, ok := a.record.Body.(*memory.Access)
	switch {
	case !ok:
	case b.Scope != memory.ScopeShared:
		a.found(Unjudged, "an agent's memory is touched by nobody")
	case a.event.Kind != event.SharedPut && a.event.Kind != event.SharedDelete:
		a.found(Unjudged, "shared memory is touched by nobody, in the event %s", a.event.Kind)
	}
}
