package segment

import (
	"os"
	"slices"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// maxIndexes bounds the sidecars kept in memory: a few MiB each at most.
const maxIndexes = 8

// indexes loads sidecars, builds what is missing or damaged, and keeps the last
// ones used.
type indexes struct {
	log    hclog.Logger
	mu     sync.Mutex // guards recent, and lets one sidecar be built at a time
	recent []*index   // the last used one first
}

// get gives the index of a sealed segment for the file it is read from. What lies
// before the position floor is not here and not in the index.
func (c *indexes) get(d directory, src *segmentFile, entry *logging.Segment, floor uint64) (*index, error) {
	from := max(entry.Start, floor)
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, x := range c.recent {
		if x.belongs(entry, from, src.checksum()) {
			copy(c.recent[1:i+1], c.recent[:i])
			c.recent[0] = x
			return x, nil
		}
	}
	x, err := c.load(d, src, entry, from)
	if err != nil {
		return nil, err
	}
	if len(c.recent) < maxIndexes {
		c.recent = append(c.recent, nil)
	}
	copy(c.recent[1:], c.recent)
	c.recent[0] = x
	return x, nil
}

// load reads the sidecar of a segment, or builds it when it is not there or not
// what it should be.
func (c *indexes) load(d directory, src *segmentFile, entry *logging.Segment, from uint64) (*index, error) {
	path := d.path(entry.Start, indexSuffix)
	if b, err := os.ReadFile(path); err == nil {
		if x, ok := parseIndex(b); ok && x.belongs(entry, from, src.checksum()) {
			return x, nil
		}
	}
	b, err := buildIndex(src, entry, from)
	if err != nil {
		return nil, err
	}
	if err := d.replace(path, b); err != nil {
		// It serves from memory as well, and is built again another time.
		c.log.Warn("sidecar index not written", "segment", entry.Start, "error", err)
	}
	x, ok := parseIndex(b)
	if !ok {
		panic("segment: an index that was just built does not parse")
	}
	return x, nil
}

// forget the indexes of a segment whose file was exchanged.
func (c *indexes) forget(start uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = slices.DeleteFunc(c.recent, func(x *index) bool { return x.start == start })
}
