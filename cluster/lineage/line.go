package lineage

import (
	"fmt"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster/datadir"
)

// Node is what a line asks and tells.
type Node interface {
	// Fresh tells whether the node has nothing yet, and has acknowledged nothing.
	Fresh() bool
	// Outlived says that the cluster was recovered without this node.
	Outlived(peer string)
}

// Line is the lineage of one data directory. A nil one is empty.
type Line struct {
	dir    string
	logger hclog.Logger

	mu   sync.Mutex // guards what follows
	own  string
	node Node // nil: it is not open, or held
}

// Open reads it.
func Open(dir string, logger hclog.Logger) (*Line, error) {
	own, err := datadir.Lineage(dir)
	if err != nil {
		return nil, err
	}
	return &Line{dir: dir, own: own, logger: logger}, nil
}

// Follow lets a node that is open judge.
func (l *Line) Follow(n Node) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.node = n
}

// Own is the lineage.
func (l *Line) Own() string {
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.own
}

// Adopt takes a later one, on disk first, for a node that has nothing yet.
func (l *Line) Adopt(later string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.node == nil || !l.node.Fresh() {
		return l.own == later // another stream was first
	}
	if err := datadir.KeepLineage(l.dir, later); err != nil {
		l.logger.Error("the recoveries that this node's cluster has been through are not on disk", "error", err)
		return false
	}
	l.own = later
	return true
}

// Outlived tells the node, if there is one.
func (l *Line) Outlived(peer string) {
	l.mu.Lock()
	node := l.node
	l.mu.Unlock()
	if node != nil {
		node.Outlived(peer)
	}
}

// idBytes of a recovery's id, as hexadecimal digits.
const idDigits = 8

// most is how many recoveries fit into a handshake.
const most = 28

// Extend gives a lineage with one more recovery, which a token of at least eight digits
// names. What has it already stays as it is.
func Extend(own, token string) (string, error) {
	id := token[:idDigits]
	switch {
	case own == "":
		return id, nil
	case Ends(own, token):
		return own, nil
	case len(own)/(idDigits+1)+1 >= most:
		return "", fmt.Errorf("the cluster was recovered %d times, which is as often as can be told: make a new one of a backup (omni backup restore)", most)
	}
	return own + "." + id, nil
}

// Ends tells whether a recovery is the last one of a lineage.
func Ends(own, token string) bool {
	return len(own) >= idDigits && len(token) >= idDigits && own[len(own)-idDigits:] == token[:idDigits]
}
