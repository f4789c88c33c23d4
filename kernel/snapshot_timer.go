//go:build !planted_snapshot

package kernel

import "github.com/omnikernel/omnikernel/kernel/timers"

func timerSection(t timers.Timer, emit func(kind byte, body any) bool) bool {
	return emit(sectionTimer, t)
}
