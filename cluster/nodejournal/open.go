package nodejournal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// ErrBusy says that another process has the directory.
var ErrBusy = errors.New("data directory is in use by another process")

const (
	lockFor  = 5 * time.Second // a predecessor may still be ending
	lockPoll = 20 * time.Millisecond
)

// Past is what the files told when they were opened.
type Past struct {
	Before *nodestate.Memory // what the process before left; nil: there was none
	Damage []Damage
}

// Open locks a data directory and reads what is in it. What its last process
// left torn is cut off.
func Open(dir string) (*Journal, Past, error) {
	lock, err := lockDir(dir, lockFor)
	if err != nil {
		return nil, Past{}, err
	}
	j := &Journal{dir: dir, lock: lock, moved: make(chan struct{}), wake: make(chan struct{}, 1), done: make(chan struct{})}
	past, err := j.open()
	if err != nil {
		if j.file != nil {
			_ = j.file.Close()
		}
		_ = lock.Close()
		return nil, Past{}, err
	}
	go j.run()
	return j, past, nil
}

func (j *Journal) open() (past Past, err error) {
	memory, damaged, err := readState(j.dir)
	if err != nil {
		return past, err
	}
	older, olderWhole, olderSize, err := readFile(j.dir, olderFile, 2*maxBytes)
	if err != nil {
		return past, err
	}
	newer, whole, size, err := readFile(j.dir, journalFile, 2*maxBytes)
	if err != nil {
		return past, err
	}
	past.Damage = append(older.Damage, newer.Damage...)
	if damaged != nil {
		past.Damage = append([]Damage{*damaged}, past.Damage...)
	}
	if olderWhole < olderSize {
		past.Damage = append(past.Damage, Damage{olderFile, olderWhole, "the file ends within a line"})
	}
	entries := append(older.Entries, newer.Entries...)
	past.Before = remember(memory, entries, damaged)
	if past.Before != nil {
		j.memory = *past.Before
	}
	j.durable = j.memory.Seq
	if memory != nil {
		j.stored = memory.Seq
	}
	if err := j.openFile(whole); err != nil {
		return past, err
	}
	if whole < size {
		j.cut(&past, whole, size-whole)
	}
	return past, nil
}

// remember is the snapshot and the entries after it; without a snapshot, the
// entries. nil when there is nothing at all.
func remember(snapshot *nodestate.Memory, entries []nodestate.Entry, damaged *Damage) *nodestate.Memory {
	if snapshot == nil && damaged == nil && len(entries) == 0 {
		return nil
	}
	var m nodestate.Memory
	if snapshot != nil {
		m = *snapshot
	}
	known := snapshot != nil || len(entries) > 0 && entries[0].Seq == 1
	for i := range entries {
		if entries[i].Seq > m.Seq {
			m.Follow(&entries[i])
			known = known || entries[i].Hold != ""
		}
	}
	if !known {
		// Whether it was suspended is not known: it rests until somebody says so.
		m.Suspension = &nodestate.Suspension{By: "node", Reason: "what the node remembers of itself does not read, and it may have been suspended"}
	}
	return &m
}

// openFile opens the journal for writing, at the end of what is whole.
func (j *Journal) openFile(whole int64) (err error) {
	path := filepath.Join(j.dir, journalFile)
	if j.file, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("node journal: %w", err)
	}
	if err := j.file.Truncate(whole); err != nil {
		return fmt.Errorf("node journal: %w", err)
	}
	if err := syncDir(j.dir); err != nil {
		return err
	}
	j.size = whole
	return nil
}

// cut puts on record that the last line was torn.
func (j *Journal) cut(past *Past, at, bytes int64) {
	d := Damage{journalFile, at, fmt.Sprintf("the last line was torn, and its %d bytes were cut off", bytes)}
	past.Damage = append(past.Damage, d)
	if past.Before == nil {
		past.Before = &nodestate.Memory{State: nodestate.Created} // the process ended within its first line
	}
	past.Before.Seq++
	j.Record(nodestate.Entry{
		Seq: past.Before.Seq, Boot: past.Before.Boot, Time: time.Now().UTC(), Kind: nodestate.KindLost, By: "node", Cause: d.String(),
	}, *past.Before)
}

// rotate begins a new file. Called with files held.
func (j *Journal) rotate() error {
	path := filepath.Join(j.dir, journalFile)
	next, err := os.OpenFile(path+".tmp", os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("node journal: %w", err)
	}
	err = os.Rename(path, filepath.Join(j.dir, olderFile))
	if err == nil || errors.Is(err, os.ErrNotExist) { // an attempt before this one came so far
		err = os.Rename(path+".tmp", path)
	}
	if err == nil {
		err = syncDir(j.dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("node journal: %w", err), next.Close())
	}
	_ = j.file.Close() // all of it is on disk
	j.file, j.size = next, 0
	return nil
}

// lockDir takes the exclusive lock of a directory. The operating system gives it
// back when the process ends, however it ends.
func lockDir(dir string, timeout time.Duration) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("node journal: %w", err)
	}
	for deadline := time.Now().Add(timeout); ; time.Sleep(lockPoll) {
		err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return d, nil
		}
		busy := errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
		if !busy || !time.Now().Before(deadline) {
			_ = d.Close()
			if busy {
				err = ErrBusy
			}
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("node journal: %w", err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("node journal: %w", err)
	}
	return nil
}
