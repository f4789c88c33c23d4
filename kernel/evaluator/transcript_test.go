package evaluator_test

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// TestTranscripts runs testdata/*.txt. In each file
//
//	run      runs the YAML program: one line per step, calls, and the end
//	refuse   compiles the YAML program and shows the refusal
//	input    sets the input (YAML) of the following runs
//	env      sets the environment (YAML) of the following runs
//	answers  sets the answers of the following runs, one per line: "ok YAML"
//	         or "CODE message"; without it every call is echoed
//
// Every program is run straight, through a checkpoint at each call, and through
// a recovery at each call; all three must show the same (EX-3, EX-8, FA-1).
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		ctx, answers := testContext, tools(echo)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "input":
				ctx.Input = rawYAML(t, d.Input)
			case "env":
				ctx.Env = rawYAML(t, d.Input)
			case "answers":
				answers = scripted(t, d.Input)
			case "refuse":
				_, refusal := std(t).Compile(rawYAML(t, d.Input))
				require.NotNil(t, refusal)
				require.Equal(t, failure.InvalidProgram, refusal.Code)
				return showRefusal(refusal)
			case "run":
				p := compile(t, d.Input)
				o := run(t, p, ctx, answers, straight)
				require.Equal(t, o, run(t, p, ctx, answers, resuming))
				require.Equal(t, o, run(t, p, ctx, answers, recovering))
				return o.show()
			default:
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			return ""
		})
	})
}

func showRefusal(r *failure.Refusal) string {
	s := r.Field + ": " + r.Rule
	if r.Hint != "" {
		s += " (" + r.Hint + ")"
	}
	return s + "\n"
}

// scripted gives one answer after the other.
func scripted(t *testing.T, src string) tools {
	var answers []evaluator.Answer
	for line := range strings.Lines(src) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "ok" {
			answers = append(answers, evaluator.Answer{OK: true, Value: rawYAML(t, rest)})
			continue
		}
		answers = append(answers, evaluator.Answer{Code: failure.Code(word), Message: rest})
	}
	return func(n int, _ evaluator.Call) evaluator.Answer {
		require.Less(t, n, len(answers), "more calls than answers")
		return answers[n]
	}
}
