package evaluator_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzCompile: any JSON either compiles or is refused with a field and a rule;
// what compiles runs without a panic.
func FuzzCompile(f *testing.F) {
	for _, src := range transcriptPrograms(f) {
		f.Add(src)
	}
	e := std(f)
	ctx := testContext
	ctx.Input = value.EmptyMap
	f.Fuzz(func(t *testing.T, src string) {
		raw, problem := value.FromJSON([]byte(src), 1<<16)
		if problem != nil {
			return
		}
		p, refusal := e.Compile(raw)
		if refusal != nil {
			require.Nil(t, p)
			require.Equal(t, failure.InvalidProgram, refusal.Code)
			require.True(t, strings.HasPrefix(refusal.Field, "program"), refusal.Field)
			require.NotEmpty(t, refusal.Rule)
			require.NotContains(t, refusal.Rule, "panicked")
			return
		}
		w := moodyWorld(t, ctx)
		o := w.run(t, p, resuming)
		require.Equal(t, o, w.run(t, p, straight))
		if o.last.Kind == evaluator.Failed {
			require.NotEqual(t, failure.EvalPanic, o.last.Failure.Code)
		}
	})
}

// transcriptPrograms are the programs in testdata, as JSON.
func transcriptPrograms(f *testing.F) []string {
	paths, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	var programs []string
	for _, path := range paths {
		file, err := os.ReadFile(path)
		require.NoError(f, err)
		for _, part := range strings.Split(string(file), "\n\n") {
			word, rest, _ := strings.Cut(part, "\n")
			src, _, _ := strings.Cut(rest, "----")
			var v any
			if (word == "run" || word == "refuse") && yaml.Unmarshal([]byte(src), &v) == nil {
				programs = append(programs, string(rawGo(f, v).AppendJSON(nil)))
			}
		}
	}
	require.Greater(f, len(programs), 20)
	return programs
}

// FuzzResume: no bytes make a panic, and no store has two checkpoints.
func FuzzResume(f *testing.F) {
	programs := []evaluator.Program{compile(f, nestedCalls), compile(f, everyFrame)}
	for _, p := range programs {
		for nth := range 6 {
			f.Add(checkpointOf(f, p, testContext, nth+1))
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, checkpoint []byte) {
		for _, p := range programs {
			resumeAnything(t, p, checkpoint)
		}
	})
}
