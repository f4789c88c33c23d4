package raftstore

import "fmt"

// deleteStep bounds one deletion transaction, in entries. Deleting a million
// entries at once stops every other write for a second; this many take a few
// milliseconds.
const deleteStep = 2048

// DeleteRange removes the entries low to high, both included.
//
// The library deletes a prefix (behind a snapshot) or a suffix (entries that
// conflict with the leader's). Steps make a crash in the middle possible, and
// what is left must be a log without holes, or the node cannot start again. So
// a prefix goes from its front and a suffix from its end.
//
// Segments delete by changing their metadata, whatever the range: one step.
func (l logs) DeleteRange(low, high uint64) error {
	if err := l.writable(); err != nil {
		return err
	}
	first, err := l.FirstIndex()
	if err != nil {
		return err
	}
	last, err := l.LastIndex()
	if err != nil {
		return err
	}
	low, high = max(low, first), min(high, last)
	if first == 0 || low > high {
		return nil
	}
	if low > first && high < last {
		return fmt.Errorf("entries %d to %d are neither the front nor the end of the log %d to %d", low, high, first, last)
	}
	if l.kind == WAL {
		return l.deleteStep(low, high)
	}
	if low == first {
		return l.deleteForward(low, high)
	}
	return l.deleteBackward(low, high)
}

func (l logs) deleteForward(low, high uint64) error {
	for high-low >= deleteStep {
		if err := l.deleteStep(low, low+deleteStep-1); err != nil {
			return err
		}
		low += deleteStep
	}
	return l.deleteStep(low, high)
}

func (l logs) deleteBackward(low, high uint64) error {
	for high-low >= deleteStep {
		if err := l.deleteStep(high-deleteStep+1, high); err != nil {
			return err
		}
		high -= deleteStep
	}
	return l.deleteStep(low, high)
}

func (l logs) deleteStep(low, high uint64) error {
	if err := l.writable(); err != nil {
		return err
	}
	timer := l.guard("delete entries")
	err := l.backend.DeleteRange(low, high)
	timer.Stop()
	if err != nil {
		return l.fail(fmt.Sprintf("delete entries %d to %d", low, high), err)
	}
	return nil
}
