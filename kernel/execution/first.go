//go:build !planted_maporder

package execution

// First is the agent whose tick is next.
func (t *Tables) First() (agent uint32, ok bool) {
	_, agent, ok = t.queue.First()
	return agent, ok
}
