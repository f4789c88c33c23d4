package kernels

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Shrink looks for a shorter history that fails too, for as long as it may: it
// cuts the tail off, then takes out ever smaller pieces. It returns the failure
// as it is when replaying it does not fail, as with a bug that depends on the
// process and not on the history.
func Shrink(f *Failure, within time.Duration) *Failure {
	deadline := time.Now().Add(within)
	best := *f
	tries, broken := 0, place(f.Text)
	fails := func(ops []Op) bool {
		tries++
		text := Replay(f.Replicas, ops)
		same := text != "" && place(text) == broken
		if same {
			best.Ops, best.Text = slices.Clone(ops), text
		}
		return same
	}
	if len(f.Ops) < 2 || !fails(f.Ops) {
		return f
	}
	for low, high := 1, len(best.Ops); low < high && time.Now().Before(deadline); {
		if middle := (low + high) / 2; fails(f.Ops[:middle]) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	// The first Op boots the kernel, and stays.
	for size := len(best.Ops) / 2; size > 0 && time.Now().Before(deadline); size /= 2 {
		for at := 1; at+size <= len(best.Ops) && time.Now().Before(deadline); {
			shorter := slices.Concat(best.Ops[:at], best.Ops[at+size:])
			if !fails(shorter) {
				at += size
			}
		}
	}
	best.Text = fmt.Sprintf("%s\nshrunk from %d to %d in %d tries", best.Text, len(f.Ops), len(best.Ops), tries)
	return &best
}

// place tells one broken rule from another: the check that failed, by its file
// and line, or what the kernel panicked with.
func place(text string) string {
	if _, trace, ok := strings.Cut(text, "Error Trace:"); ok {
		text = trace
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
