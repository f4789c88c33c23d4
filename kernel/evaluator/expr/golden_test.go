package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// TestGolden pins what programs compute: value or failure with its place, and
// the steps and bytes that it took. The same files run on every architecture
// (EX-10, EX-11, EV-13). Each directive is
//
//	eval [steps=N] [bytes=N]     an expression
//	template [steps=N] [bytes=N] JSON data with ${…}
//
// and a first line "input {…}" gives the environment's only name, input.
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			steps, bytes := uint64(DefaultSteps), uint64(DefaultBytes)
			d.MaybeScanArgs(t, "steps", &steps)
			d.MaybeScanArgs(t, "bytes", &bytes)
			src, env := d.Input, names{}
			if line, rest, ok := strings.Cut(src, "\n"); ok && strings.HasPrefix(line, "input ") {
				env["input"] = fromJSON(t, strings.TrimPrefix(line, "input "))
				src = rest
			}
			m := NewMeter(uint32(steps), uint32(bytes))
			switch d.Cmd {
			case "eval":
				e, refused := Compile(src)
				if refused != nil {
					return refusalText(refused)
				}
				v, f := e.Eval(env, m)
				if f != nil {
					return failureText(f, m)
				}
				return fmt.Sprintf("%s\n%s", jsonOf(t, v), meterText(m))
			case "template":
				tm, refused := CompileTemplate(rawJSON(t, src), "payload")
				if refused != nil {
					return refusalText(refused)
				}
				v, f := tm.Eval(env, m)
				if f != nil {
					return failureText(f, m)
				}
				return fmt.Sprintf("%s\n%s", jsonOf(t, v), meterText(m))
			}
			t.Fatalf("unknown directive %s", d.Cmd)
			return ""
		})
	})
}

func meterText(m *Meter) string { return fmt.Sprintf("steps=%d bytes=%d", m.Steps(), m.Bytes()) }

func failureText(f *failure.Failure, m *Meter) string {
	return fmt.Sprintf("%s %d:%d %s\n%s", f.Code, f.Line, f.Column, f.Message, meterText(m))
}

func refusalText(r *failure.Refusal) string {
	text := fmt.Sprintf("%s: %s", r.Code, r.Rule)
	if r.Field != "" {
		text += "\nfield: " + r.Field
	}
	if r.Hint != "" {
		text += "\nhint: " + r.Hint
	}
	return text
}
