package fsm

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// NewerError says that a log or a snapshot is of a kernel version that this binary
// does not know (EV-9). Nothing of it was applied.
type NewerError struct{ Version uint32 }

// Error names both versions, and what to do.
func (e *NewerError) Error() string {
	return fmt.Sprintf("it is of kernel version %d, and %s", e.Version, onlyKnows)
}

var onlyKnows = fmt.Sprintf("this binary knows kernel versions 1 to %d only: start this node with a binary that is as new as those of the other nodes (omni cluster status, asked of one of them, tells which they run)", kernel.Version)

// unreadable tells of an entry that does not decode (EV-2).
func unreadable(kind event.Kind, err error) error {
	if errors.Is(err, event.ErrKind) {
		return fmt.Errorf("kind %d: %w: %s", kind, err, onlyKnows)
	}
	return fmt.Errorf("kind %d, kernel version %d: %w", kind, kernel.Version, err)
}

// prepare is called before anything is applied that takes the state to a kernel
// version: one that this binary does not know stops it here, and who keeps the data
// hears of it, so that an older binary finds out before it opens anything.
func (f *FSM) prepare(version uint32) error {
	if version > kernel.Version {
		return &NewerError{Version: version}
	}
	if version <= f.needs || f.options.Needs == nil {
		return nil
	}
	if err := f.options.Needs(version); err != nil {
		return fmt.Errorf("kernel version %d: %w", version, err)
	}
	f.needs = version
	return nil
}
