package nodes

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// disk is what of a node's Raft store survives its crash. A write takes time, and
// counts when it is fsynced: one that is under way when the node dies is there
// afterwards, whole, or it is not.
type disk struct {
	dice *dice

	mu    sync.Mutex // guards what follows
	now   *content
	under []*write // not fsynced yet, in order
	stall time.Duration
}

// content is what stands on a disk.
type content struct {
	entries map[uint64]raft.Log
	values  map[string][]byte
}

// write is a change that is under way.
type write struct {
	change func(*content)
}

func newDisk(d *dice) *disk {
	return &disk{dice: d, now: &content{entries: make(map[uint64]raft.Log), values: make(map[string][]byte)}}
}

// open is what a node that starts is given.
func (d *disk) open() (raftstore.Backend, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &handle{disk: d, content: d.now}, nil
}

// crash takes the disk from whoever has it. Writes that are under way have
// reached it by then, or have not. What the dead still write goes nowhere: to
// them it looks as if it had worked, since they must not notice more than a
// process does that is no more.
func (d *disk) crash() {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := &content{entries: maps.Clone(d.now.entries), values: maps.Clone(d.now.values)}
	for _, w := range d.under {
		if d.dice.intN(2) == 0 {
			w.change(left)
		}
	}
	d.now, d.under, d.stall = left, nil, 0
}

// slow makes every write take so much longer.
func (d *disk) slow(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stall = by
}

// handle is one life's view of a disk.
type handle struct {
	disk    *disk
	content *content // guarded by the disk's mutex
}

var _ raftstore.Backend = (*handle)(nil)

// write changes the disk once its fsync is over.
func (h *handle) write(change func(*content)) error {
	d := h.disk
	w := &write{change: change}
	d.mu.Lock()
	if d.now == h.content {
		d.under = append(d.under, w)
	}
	took := d.stall + time.Duration(d.dice.intN(3000))*time.Microsecond
	d.mu.Unlock()
	time.Sleep(took)
	d.mu.Lock()
	defer d.mu.Unlock()
	change(h.content)
	d.under = slices.DeleteFunc(d.under, func(other *write) bool { return other == w })
	return nil
}

func (h *handle) edge(of func([]uint64) uint64) (uint64, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	if len(h.content.entries) == 0 {
		return 0, nil
	}
	return of(slices.Collect(maps.Keys(h.content.entries))), nil
}

// FirstIndex implements raft.LogStore.
func (h *handle) FirstIndex() (uint64, error) { return h.edge(slices.Min) }

// LastIndex implements raft.LogStore.
func (h *handle) LastIndex() (uint64, error) { return h.edge(slices.Max) }

// GetLog implements raft.LogStore.
func (h *handle) GetLog(index uint64, entry *raft.Log) error {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	found, ok := h.content.entries[index]
	if !ok {
		return raft.ErrLogNotFound
	}
	*entry = found
	return nil
}

// StoreLog implements raft.LogStore.
func (h *handle) StoreLog(entry *raft.Log) error { return h.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore.
func (h *handle) StoreLogs(entries []*raft.Log) error {
	return h.write(func(c *content) {
		for _, e := range entries {
			c.entries[e.Index] = *e
		}
	})
}

// DeleteRange implements raft.LogStore.
func (h *handle) DeleteRange(low, high uint64) error {
	return h.write(func(c *content) {
		maps.DeleteFunc(c.entries, func(index uint64, _ raft.Log) bool { return index >= low && index <= high })
	})
}

// Set implements raftstore.Backend.
func (h *handle) Set(key, value []byte) error {
	return h.write(func(c *content) { c.values[string(key)] = slices.Clone(value) })
}

// Get implements raftstore.Backend.
func (h *handle) Get(key []byte) ([]byte, error) {
	h.disk.mu.Lock()
	defer h.disk.mu.Unlock()
	return h.content.values[string(key)], nil
}

// Close implements raftstore.Backend.
func (h *handle) Close() error { return nil }
