package tools

import (
	"testing"

	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// FuzzReadUsage: whatever a service says of its usage, what is believed of it is
// within what a call may cost, or nothing is.
func FuzzReadUsage(f *testing.F) {
	for _, text := range []string{"tokens=120, usd-micros=450", "", "tokens=-1", "tokens=99999999999999999999", "tokens", "a=1,,", "tokens=1,tokens=2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		used := ReadUsage(text)
		if !used.Metered && used != (kerneltools.Usage{}) {
			t.Fatalf("%q: %+v", text, used)
		}
		if used.Tokens >= 1<<40 || used.USDMicros >= 1<<40 {
			t.Fatalf("%q: %+v", text, used)
		}
	})
}
