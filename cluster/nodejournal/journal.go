package nodejournal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// Bounds.
const (
	maxBytes      = 1 << 20     // of a journal file; then the next one begins
	maxPending    = 1024        // entries that wait for the disk; what comes then is lost, and counted
	snapshotEvery = time.Second // between snapshots that nobody waits for
	retryEvery    = time.Second // between attempts at a disk that does not take anything
)

// Journal is the open journal of one data directory.
type Journal struct {
	dir  string
	lock *os.File

	mu       sync.Mutex // guards what follows
	pending  []nodestate.Entry
	lost     int              // entries after those, for which there was no room
	gap      nodestate.Entry  // the last of them
	memory   nodestate.Memory // as of the last entry taken in
	urgent   bool             // the snapshot must not wait
	durable  uint64           // the last entry on disk
	attempts uint64           // at writing
	err      error            // of the last attempt
	moved    chan struct{}    // closed and replaced after every attempt
	closing  bool
	wake     chan struct{} // one place

	files   sync.Mutex // guards the files, and what follows
	file    *os.File
	size    int64
	stored  uint64 // the entry that the snapshot on disk holds
	written time.Time
	done    chan struct{}
}

// Record takes an entry. It never waits.
func (j *Journal) Record(e nodestate.Entry, now nodestate.Memory) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.memory = now
	j.urgent = j.urgent || e.Hold != "" || e.Kind == nodestate.KindBoot || now.State == nodestate.Terminated || now.State == nodestate.Crashed
	if j.lost == 0 && len(j.pending) < maxPending {
		j.pending = append(j.pending, e)
	} else {
		j.lost++
		j.gap = e
	}
	j.stir()
}

func (j *Journal) stir() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// Err is why the journal cannot be written at the moment; nil when it can.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Sync waits until every entry recorded so far is on disk.
func (j *Journal) Sync(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	target, attempts := j.memory.Seq, j.attempts
	for j.durable < target {
		if j.err != nil && j.attempts > attempts {
			return j.err
		}
		moved := j.moved
		j.mu.Unlock()
		j.stir()
		select {
		case <-moved:
		case <-ctx.Done():
		}
		j.mu.Lock()
		if ctx.Err() != nil && j.durable < target {
			return fmt.Errorf("node journal: not on disk yet: %w", ctx.Err())
		}
	}
	return nil
}

// run writes until the journal is closed and nothing is left, or what is left
// cannot be written.
func (j *Journal) run() {
	defer close(j.done)
	for {
		wait, closing := j.write()
		if closing {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-j.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// write makes one attempt, and tells how long nothing needs to be done unless
// there are new entries.
func (j *Journal) write() (wait time.Duration, over bool) {
	j.mu.Lock()
	batch, memory, urgent, closing := j.pending, j.memory, j.urgent, j.closing
	lost := j.lost
	if lost > 0 {
		batch = append(batch[:len(batch):len(batch)], lostEntry(j.gap, lost))
	}
	j.mu.Unlock()
	rotated, err := j.put(batch)
	j.mu.Lock()
	if err == nil {
		j.pending, j.lost, j.durable = j.pending[len(batch)-min(lost, 1):], j.lost-lost, memory.Seq
	}
	j.mu.Unlock()
	if err == nil {
		wait, err = j.snapshot(&memory, urgent || rotated || closing)
	}
	if err != nil {
		wait = retryEvery
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.attempts++
	j.err = err
	if err == nil && j.memory.Seq == memory.Seq {
		j.urgent = false
	}
	close(j.moved)
	j.moved = make(chan struct{})
	return wait, closing && (err != nil || j.durable == j.memory.Seq)
}

// lostEntry stands for entries that were not written.
func lostEntry(last nodestate.Entry, count int) nodestate.Entry {
	return nodestate.Entry{
		Seq: last.Seq, Boot: last.Boot, Time: last.Time, Kind: nodestate.KindLost, By: "node",
		Cause: fmt.Sprintf("%d entries up to this one were not written: the disk took nothing for too long", count),
	}
}

// put appends entries to the file, or to the next one.
func (j *Journal) put(batch []nodestate.Entry) (rotated bool, err error) {
	var lines []byte
	for i := range batch {
		if lines, err = appendLine(lines, &batch[i]); err != nil {
			return false, err
		}
	}
	if len(lines) == 0 {
		return false, nil
	}
	j.files.Lock()
	defer j.files.Unlock()
	if j.size > 0 && j.size+int64(len(lines)) > maxBytes {
		if err := j.rotate(); err != nil {
			return false, err
		}
		rotated = true // the snapshot follows: what the oldest file told is in it
	}
	// At the end of what is whole: what an attempt left that failed is overwritten.
	if _, err := j.file.WriteAt(lines, j.size); err != nil {
		return rotated, fmt.Errorf("node journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return rotated, fmt.Errorf("node journal: %w", err)
	}
	j.size += int64(len(lines))
	return rotated, nil
}

// snapshot writes node-state.json when it is due, and tells when it will be.
func (j *Journal) snapshot(m *nodestate.Memory, urgent bool) (time.Duration, error) {
	j.files.Lock()
	defer j.files.Unlock()
	if m.Seq <= j.stored {
		return time.Hour, nil
	}
	if left := snapshotEvery - time.Since(j.written); left > 0 && !urgent {
		return left, nil
	}
	if err := writeState(j.dir, m); err != nil {
		return 0, err
	}
	j.stored, j.written = m.Seq, time.Now()
	return time.Hour, nil
}

// Tail gives the entries after a seq, oldest first, at most limit of them and
// the newest when there are more, and what of the files does not read.
func (j *Journal) Tail(after uint64, limit int) (Found, error) {
	j.files.Lock()
	defer j.files.Unlock()
	found, err := Read(j.dir)
	if err != nil {
		return Found{}, err
	}
	return found.After(after, limit), nil
}

// Close writes what is left and gives the directory back.
func (j *Journal) Close() error {
	j.mu.Lock()
	j.closing = true
	j.mu.Unlock()
	j.stir()
	<-j.done
	return errors.Join(j.Err(), j.file.Close(), j.lock.Close())
}
