package kerneltest

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Register commits that a tool is registered, and returns its revision.
func (s *Sim) Register(m tools.Manifest) uint64 {
	s.T.Helper()
	return s.Must(event.ToolRegister, event.RegisterTool{Manifest: m}).Version
}

// Deregister commits that a tool is taken away.
func (s *Sim) Deregister(name string) event.Outcome {
	s.T.Helper()
	return s.Command(event.ToolDeregister, event.DeregisterTool{Name: name})
}

// registers is a client at the registry of tools.
func (h *History) registers() {
	name := [...]string{"crm.get", "search", "crm.get", "search", "other", "echo"}[h.choose.Pick("tool", 6)]
	if h.choose.Pick("deregister", 4) == 0 {
		h.command(event.ToolDeregister, event.DeregisterTool{Name: name, Reason: h.reason()})
		return
	}
	m := tools.Manifest{Name: name, Adapter: "http", Version: [...]string{"1", "2"}[h.choose.Pick("version", 2)]}
	m.Idempotent = h.choose.Pick("idempotent", 2) == 0
	m.TimeoutMillis = [...]int64{0, 400, 1_000_000}[h.choose.Pick("timeout", 3)*h.choose.Pick("with timeout", 2)]
	if name == "crm.get" {
		m.Segments = []string{"id"}
	}
	if !h.plain && h.choose.Pick("costs", 2) == 0 {
		m.Cost.Tokens = 40
	}
	if h.rarely("long", 8) {
		m.Description = strings.Repeat("d", 400)
	}
	h.command(event.ToolRegister, event.RegisterTool{Manifest: m})
}

// toolOf is what a program calls by that name.
func (n *Naive) toolOf(name string) (tools.Tool, bool) {
	if tool, ok := tools.Find(name); ok {
		return tool, true
	}
	r, ok := n.tools[name]
	if !ok {
		return tools.Tool{}, false
	}
	return r.Tool(), true
}

// revisions are those that new calls get, and those that running ones have.
func (n *Naive) revisions() map[uint64]bool {
	kept := make(map[uint64]bool)
	for _, r := range n.tools {
		kept[r.No] = true
	}
	for _, a := range n.agents {
		if a.tick == nil {
			continue
		}
		for _, c := range a.tick.waits {
			if c.outbox && c.revision != 0 {
				kept[c.revision] = true
			}
		}
	}
	return kept
}

// register makes a tool, or another revision of one (TO-9).
func (n *Naive) register(m *tools.Manifest) Answer {
	var r rules
	broken := m.Check(n.config.MaxManifestBytes, n.config.MaxCallTimeoutMillis)
	r.must(broken == nil, failure.InvalidArgument)
	old, again := n.tools[m.Name]
	if again && len(r) == 0 && old.Manifest.Same(m) {
		return Answer{}
	}
	delete(n.tools, m.Name)
	r.must(len(n.revisions()) < int(n.config.MaxTools), failure.LimitReached)
	if again {
		n.tools[m.Name] = old
	}
	if len(r) == 0 {
		n.tools[m.Name] = tools.Revision{No: n.revision, Manifest: m}
		n.revision = 0
	}
	return Answer{Refusals: r}
}

// deregister takes a tool away.
func (n *Naive) deregister(b *event.DeregisterTool) Answer {
	var r rules
	_, builtIn := tools.Find(b.Name)
	_, known := n.tools[b.Name]
	r.must(goodReason(b.Reason) && !builtIn, failure.InvalidArgument)
	r.must(known, failure.NotFound)
	if len(r) == 0 {
		delete(n.tools, b.Name)
	}
	return Answer{Refusals: r}
}
