package raftstream

import (
	"net"
	"strings"
	"time"
)

// Lineage is the recoveries of its cluster that a node's data has been through (ME-9):
// their ids, oldest first, with dots between them. It is empty where there was none. Of
// two nodes whose lineages differ one has what a recovery left behind, and nothing goes
// from one to the other.
type Lineage interface {
	// Own is this node's.
	Own() string
	// Adopt is called for a node that has been through more. It tells whether this one,
	// which has nothing yet, belongs to that cluster from now on.
	Adopt(later string) bool
	// Outlived is told of a node, by its id or its address, that has been through more,
	// and to which this one does not belong.
	Outlived(peer string)
}

// MaxLineage bounds a lineage, in bytes.
const MaxLineage = 255

// unrecovered is the lineage of who has none.
type unrecovered struct{}

func (unrecovered) Own() string       { return "" }
func (unrecovered) Adopt(string) bool { return false }
func (unrecovered) Outlived(string)   {}

// follows tells whether somebody of a lineage has been through all that another one has,
// and more.
func follows(later, earlier string) bool {
	return later != "" && earlier == "" || strings.HasPrefix(later, earlier+".")
}

// relate judges a caller by its lineage.
func (k *Kernel) relate(h hello) RefusalCode {
	e := k.endpoint
	own := e.options.Lineage.Own()
	switch {
	case h.lineage == own:
		return Accepted
	case follows(h.lineage, own) && e.options.Lineage.Adopt(h.lineage):
		e.options.Logger.Info("this node has nothing yet, and is of the recovered cluster from now on", "told_by", h.node, "lineage", h.lineage)
		k.drop()
		return Accepted
	case follows(h.lineage, own):
		e.options.Lineage.Outlived(h.node)
		return Unrecovered
	case follows(own, h.lineage):
		return Outlived
	}
	return Parted
}

// drop ends every stream of the kernel: they are of another lineage.
func (k *Kernel) drop() {
	for _, set := range []*streamSet{&k.layer.streams, &k.peers.streams, &k.history.streams} {
		set.drop()
	}
}

// turnAway tells why a caller of another lineage is, once a minute for each node.
func (e *Endpoint) turnAway(h hello, remote net.Addr, code RefusalCode) {
	if e.refusals.fresh("node "+h.node, code.String(), time.Now()) {
		e.options.Logger.Error("a node was turned away: it is not of the same recovered cluster", "node", h.node, "remote", remote.String(),
			"its_recoveries", h.lineage, "ours", e.options.Lineage.Own(), "told", code.String())
	}
}
