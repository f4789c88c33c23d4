//go:build faultclock

package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// wallClock is the machine's clock, off by what the file that is named after the
// node in the directory $OMNI_FAULT_CLOCK says, such as "-90s", at the moment of
// asking: fault tests make it jump. Only builds with the tag have it.
func wallClock(node string) func() time.Time {
	name := filepath.Join(os.Getenv("OMNI_FAULT_CLOCK"), node)
	return func() time.Time {
		text, err := os.ReadFile(name)
		if err != nil {
			return time.Now() // it does not jump until the file is there
		}
		off, err := time.ParseDuration(strings.TrimSpace(string(text)))
		if err != nil {
			panic("$OMNI_FAULT_CLOCK: " + err.Error())
		}
		// Round takes the monotonic reading away, or the jump would not be seen in
		// differences.
		return time.Now().Round(0).Add(off)
	}
}
