package cluster

// Crash ends a node as the death of its process does: nobody is told, and
// nothing is handed over.
func (n *Node) Crash() error {
	n.stopping.Store(true)
	return n.closeStores()
}

// Applied is the index of the last event in the node's state.
func (n *Node) Applied() uint64 { return n.fsm.Applied() }
