package cluster

// NodeAt is the member of the group that must answer at an address of Raft's; "" when
// the group has none there, or two.
func (n *Node) NodeAt(address string) string {
	found := ""
	for _, m := range n.group.Members() {
		if m.Address != address {
			continue
		}
		if found != "" {
			return ""
		}
		found = m.ID
	}
	return found
}
