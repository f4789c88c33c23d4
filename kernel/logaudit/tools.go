package logaudit

import (
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// catalogue is what the records so far say of tools: those that are built in, and
// the newest revision of each that is registered.
type catalogue map[string]tools.Revision

// find looks a tool up as the gate does.
func (c catalogue) find(name string) (tools.Tool, bool) {
	if tool, ok := tools.Find(name); ok {
		return tool, true
	}
	r, ok := c[name]
	if !ok {
		return tools.Tool{}, false
	}
	return r.Tool(), true
}

// current tells whether the call was judged as the tool that it would be now.
func (c catalogue) current(tool string, revision uint64) bool {
	return revision == 0 || c[tool].No == revision
}

// registry looks at TOOL_REGISTERED and TOOL_DEREGISTERED: a client asks for each,
// with this very manifest (TO-9). other is true for a record about something else.
func (a *Auditor) registry() (other bool) {
	switch body := a.record.Body.(type) {
	case *tools.RegisteredBody:
		asked, ok := event.DecodeBody[event.RegisterTool](a.event.Body)
		if a.event.Kind != event.ToolRegister || !ok || !asked.Manifest.Same(body.Manifest) {
			a.found(Unasked, "the tool %s is registered, and nobody asked for it with this manifest", body.Manifest.Name)
		}
		a.catalogue[body.Manifest.Name] = tools.Revision{No: a.seq, Manifest: body.Manifest}
	case *tools.DeregisteredBody:
		asked, ok := event.DecodeBody[event.DeregisterTool](a.event.Body)
		if a.event.Kind != event.ToolDeregister || !ok || asked.Name != body.Name {
			a.found(Unasked, "the tool %s is deregistered, and nobody asked for it", body.Name)
		}
		if a.catalogue[body.Name].No != body.Revision {
			a.found(Unasked, "revision %d of the tool %s is deregistered, and is not its newest", body.Revision, body.Name)
		}
		delete(a.catalogue, body.Name)
	default:
		return true
	}
	return false
}

// sameTool holds a call that enters the outbox to the revision that it was judged
// with: it must be the tool's newest still.
func (a *Auditor) sameTool(c *call, b *tools.RequestedBody) {
	if b.Revision != c.revision || !a.catalogue.current(c.tool, b.Revision) {
		a.found(Unjudged, "call %d enters the outbox with revision %d of %s: it was judged with %d, and the newest is %d",
			c.no, b.Revision, c.tool, c.revision, a.catalogue[c.tool].No)
	}
}
