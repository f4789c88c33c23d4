//go:build planted_maporder

package execution

// First is wrong on purpose: it takes the queue in the order of a map. The
// simulation must notice (jepsen/README.md).
func (t *Tables) First() (agent uint32, ok bool) {
	waiting := make(map[uint32]bool)
	t.All(func(_ uint64, agent uint32) bool {
		waiting[agent] = true
		return true
	})
	for agent := range waiting {
		return agent, true
	}
	return 0, false
}
