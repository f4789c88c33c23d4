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
	// Fresh tells whether this node has nothing yet: it speaks for no cluster then.
	Fresh() bool
	// Outlived is told of the address of a node that this one called, and that has been
	// through more. Of callers it is not told: who they are nobody has asked for.
	Outlived(address string)
}

// MaxLineage bounds a lineage, in bytes: 28 recoveries.
const MaxLineage = 28*(idDigits+1) - 1

// idDigits are those of a recovery's id, hexadecimal.
const idDigits = 8

// isLineage tells whether a text is one.
func isLineage(text string) bool {
	for i := range len(text) {
		hex := text[i] >= '0' && text[i] <= '9' || text[i] >= 'a' && text[i] <= 'f'
		if dot := i%(idDigits+1) == idDigits; dot && text[i] != '.' || !dot && !hex {
			return false
		}
	}
	return len(text)%(idDigits+1) == idDigits
}

// unrecovered is the lineage of who has none.
type unrecovered struct{}

func (unrecovered) Own() string       { return "" }
func (unrecovered) Adopt(string) bool { return false }
func (unrecovered) Fresh() bool       { return false }
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
		return Unrecovered
	case follows(own, h.lineage) && !e.options.Lineage.Fresh():
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
