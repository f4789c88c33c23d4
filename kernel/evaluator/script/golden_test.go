package script

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// TestGolden pins what scripts do: what they ask for, emit and come to, with
// the steps of one straight pass. The same files run on every architecture
// (EX-9, EX-10, EX-11, EV-13). In each file
//
//	run      runs the script and shows calls, emits, and the end
//	refuse   compiles the script and shows the refusal
//	input    sets the input (JSON) of the following runs
//	answers  sets the answers of the following runs, one per line: "ok JSON"
//	         or "CODE message"; without lines every call is echoed
//	escalations  sets what children ask (JSON, one per line), in the following
//	         runs
//
// Every script is run straight on, through a checkpoint at each call, and with
// each answer lost once: all three must show the same (EX-3, EX-8, FA-1).
func TestGolden(t *testing.T) {
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		w := world{ctx: testContext}
		var answers string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "input":
				w.ctx.Input = rawJSON(t, d.Input)
			case "answers":
				answers = d.Input
			case "escalations":
				w.escalations = nil
				for line := range strings.Lines(d.Input) {
					w.escalations = append(w.escalations, rawJSON(t, line))
				}
			case "refuse":
				_, refusal := New().Compile(rawOf(d.Input))
				require.NotNil(t, refusal)
				require.Equal(t, failure.InvalidProgram, refusal.Code)
				return refusal.Rule + "\n" + refusal.Hint
			case "run":
				p := compileSource(t, d.Input)
				again := func(how mode) outcome {
					w.answer = scripted(t, answers)
					return w.run(t, p, how)
				}
				o := again(resumed)
				ways := []mode{forgetful, straight}
				if len(w.escalations) > 0 {
					ways = ways[:1] // what is decided ends a run
				}
				for _, how := range ways {
					other := again(how)
					require.Equal(t, o.apart(), other.apart())
					require.Equal(t, o.pass, other.pass, "steps do not depend on where the script was suspended")
				}
				return fmt.Sprintf("%s\nsteps=%d runs=%d", o.show(), o.pass, o.runs)
			default:
				d.Fatalf(t, "unknown directive %s", d.Cmd)
			}
			return ""
		})
	})
}

// scripted gives one answer after the other.
func scripted(t testing.TB, src string) func(evaluator.Call) evaluator.Answer {
	var answers []evaluator.Answer
	for line := range strings.Lines(src) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch word {
		case "":
		case "ok":
			answers = append(answers, evaluator.Answer{OK: true, Value: rawJSON(t, rest)})
		default:
			answers = append(answers, evaluator.Answer{Code: failure.Code(word), Message: rest})
		}
	}
	if len(answers) == 0 {
		return echo
	}
	n := 0
	return func(evaluator.Call) evaluator.Answer {
		require.Less(t, n, len(answers), "more calls than answers")
		n++
		return answers[n-1]
	}
}

// goldenScripts are the scripts of the corpus, for the fuzz targets.
func goldenScripts(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/golden/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var scripts []string
	for _, path := range paths {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		for part := range strings.SplitSeq(string(file), "\n----\n") {
			for _, word := range []string{"\nrun\n", "\nrefuse\n"} {
				if at := strings.LastIndex(part, word); at >= 0 {
					scripts = append(scripts, part[at+len(word):])
				}
			}
		}
	}
	return scripts
}

// script/1 is the language, this version of the library, the dialect's flags,
// the builtins and their charges.
func TestTheLibraryIsPinned(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	require.NoError(t, err)
	assert.Contains(t, string(mod), "\tgo.starlark.net v0.0.0-20260908191801-89a6a09411d5\n",
		"another library version is another evaluator: programs that are committed run as script/1 for ever, "+
			"so register script/2 with the new one, or prove that it steps, fails and computes the same on all of the corpus")
	flags := dialect()
	assert.False(t, flags.Set || flags.While || flags.Recursion || flags.LoadBindsGlobally)
	assert.True(t, flags.TopLevelControl && flags.GlobalReassign)
	t.Logf("words have %d bits", bits.UintSize)
}
