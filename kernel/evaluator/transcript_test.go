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
//	         or "CODE message"; without lines every call is echoed
//	escalations  sets what children ask (YAML, one per line) of each DELEGATE
//	         that has a handler, in the following runs
//
// Every program is run straight, through a checkpoint at each call, and through
// a recovery at each call; all three must show the same (EX-3, EX-8, FA-1).
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := world{ctx: testContext, answers: echo}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "input":
				w.ctx.Input = rawYAML(t, d.Input)
			case "env":
				w.ctx.Env = rawYAML(t, d.Input)
			case "answers":
				w.answers = scripted(t, d.Input)
			case "escalations":
				w.escalations = nil
				for line := range strings.Lines(d.Input) {
					w.escalations = append(w.escalations, rawYAML(t, line))
				}
			case "refuse":
				_, refusal := std(t).Compile(rawYAML(t, d.Input))
				require.NotNil(t, refusal)
				require.Equal(t, failure.InvalidProgram, refusal.Code)
				return showRefusal(refusal)
			case "run":
				p := compile(t, d.Input)
				o := w.run(t, p, straight)
				require.Equal(t, o, w.run(t, p, resuming))
				require.Equal(t, o, w.run(t, p, recovering))
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
	if len(answers) == 0 {
		return echo
	}
	return func(n int, _ evaluator.Call) evaluator.Answer {
		require.Less(t, n, len(answers), "more calls than answers")
		return answers[n]
	}
}
