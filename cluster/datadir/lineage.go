package datadir

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
)

// The recoveries that a node's data has been through are part of whose it is: node.json
// has them, with a checksum over what nothing else can be held against, in a format that
// binaries refuse which do not know of recoveries.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum is the checksum of an owner with a lineage.
func (o *owner) sum() string {
	return fmt.Sprintf("%08x", crc32.Checksum(fmt.Appendf(nil, "%d %q %q %d %q", o.Format, o.Cluster, o.Node, o.KernelVersion, o.Lineage), castagnoli))
}

// write gives node.json the format that its content needs, and is durable before
// anything else is written beside it.
func (o owner) write(path string) error {
	o.Format, o.Sum = o.format(), ""
	if o.Lineage != "" {
		o.Sum = o.sum()
	}
	return writeOwner(path, o)
}

// format is the one in which a content is written.
func (o *owner) format() int {
	switch {
	case o.Lineage != "":
		return formatLineage
	case o.KernelVersion > 0:
		return formatVersion
	}
	return 0
}

// Lineage gives the recoveries that a directory's data has been through; none for one
// that is nobody's yet.
func Lineage(dir string) (string, error) {
	path := filepath.Join(dir, nodeFile)
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	var found owner
	if err == nil {
		found, err = readOwner(content)
	}
	if err != nil {
		return "", fmt.Errorf("cluster: data directory: %s: %w", path, err)
	}
	return found.Lineage, nil
}

// changing guards node.json, which a node's state and its streams change.
var changing sync.Mutex

// KeepLineage writes them.
func KeepLineage(dir, lineage string) error {
	return changeOwner(dir, func(o *owner) { o.Lineage = lineage })
}

// changeOwner changes what node.json says.
func changeOwner(dir string, change func(*owner)) error {
	changing.Lock()
	defer changing.Unlock()
	path := filepath.Join(dir, nodeFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cluster: data directory: %w", err)
	}
	found, err := readOwner(content)
	if err != nil {
		return fmt.Errorf("cluster: %s does not parse: %w", path, err)
	}
	next := found
	if change(&next); next == found {
		return nil
	}
	return next.write(path)
}
