package lineage

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
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

// Fresh tells whether the node has nothing yet. It is so before it can tell.
func (l *Line) Fresh() bool {
	l.mu.Lock()
	node := l.node
	l.mu.Unlock()
	return node == nil || node.Fresh()
}

// idDigits are a recovery's id, hexadecimal.
const idDigits = 8

// most is how many recoveries fit into a handshake.
const most = 28

// NewID draws the id of a recovery. It is drawn and not computed: of two recoveries from
// the same state, on a copy and then for good, each begins a cluster of its own.
func NewID() (string, error) {
	var random [idDigits / 2]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(random[:]), nil
}

// Extend gives a lineage with one more recovery. What has it already stays as it is.
func Extend(own, id string) (string, error) {
	switch {
	case len(id) != idDigits:
		return "", fmt.Errorf("%q is no id of a recovery: it has %d digits", id, idDigits)
	case own == "":
		return id, nil
	case Ends(own, id):
		return own, nil
	case len(own)/(idDigits+1)+1 >= most:
		return "", fmt.Errorf("the cluster was recovered %d times, which is as often as can be told: make a new one of a backup (omni backup restore)", most)
	}
	return own + "." + id, nil
}

// Ends tells whether a recovery is the last one of a lineage.
func Ends(own, id string) bool { return len(id) == idDigits && strings.HasSuffix(own, id) }
