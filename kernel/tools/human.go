package tools

// Human is the adapter of tools whose calls a person answers (TO-12). No node makes
// such a call: that it is in the outbox is all there is to asking, until somebody
// answers or its time is over.
const Human = "human"

// Asks reports whether the call waits for a person.
func (t *Tables) Asks(c *Call) bool {
	if c.Revision == 0 {
		return false
	}
	r, ok := t.Revision(c.Revision)
	return ok && r.Manifest.Adapter == Human
}
