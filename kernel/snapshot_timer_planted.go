//go:build planted_snapshot

package kernel

import "github.com/omnikernel/omnikernel/kernel/timers"

// timerSection is wrong on purpose: one timer in eight is not in the snapshot.
// The simulation must notice (jepsen/README.md).
func timerSection(t timers.Timer, emit func(kind byte, body any) bool) bool {
	return t.ID%8 == 0 || emit(sectionTimer, t)
}
