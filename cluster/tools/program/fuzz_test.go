//go:build linux

package program

import (
	"testing"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzAnswer: whatever a program writes comes to a value, or to a failure.
func FuzzAnswer(f *testing.F) {
	for _, out := range []string{`{"a":1}`, "null\n", "", "{} {}", "\xff", `{"a":1,"a":2}`, "1e999"} {
		f.Add([]byte(out))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		result := answer(out, &httprequest.Redactor{})
		if result.OK {
			if problem := value.Check(result.Value, 4*len(out)+16); problem != nil {
				t.Fatalf("%q: no value: %v", out, problem)
			}
		}
	})
}
