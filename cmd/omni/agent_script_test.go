package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// A script in an agent file is the program of an agent of script/1.
func TestScriptInAnAgentFile(t *testing.T) {
	f, define, err := readAgent("-", strings.NewReader("name: adder\nscript: |\n  def main(input):\n      return 1\n"))
	require.NoError(t, err)
	assert.Equal(t, "script/1", define.Evaluator)
	source, _ := define.Program.Text()
	assert.Equal(t, "def main(input):\n    return 1\n", source)

	refused := &api.Error{Code: "INVALID_PROGRAM", Field: "program", Rule: `script:2:12: nothing is named "x"`, Message: "program: script:2:12: nothing is named"}
	var located *tell.InFile
	require.ErrorAs(t, inFile(refused, f, ""), &located)
	assert.Equal(t, []int{4, 14}, []int{located.Line, located.Column}, "the line of the file, below the two of the script's own")
	refused = &api.Error{Code: "INVALID_PROGRAM", Field: "agent.program", Rule: "must be text"}
	require.ErrorAs(t, ofDefinition(refused, f), &located)
	assert.Equal(t, []int{2, 1}, []int{located.Line, located.Column})
	elsewhere := &api.Error{Code: "INVALID_ARGUMENT", Field: "input.script", Rule: "must be of type string"}
	require.False(t, errors.As(ofDefinition(elsewhere, f), &located), "what is not of the definition is not in its file")

	for src, want := range map[string]string{
		"script: x\nprogram: {}\n":      "1:1: script: there is a program or a script, not both",
		"evaluator: std/1\nscript: x\n": "1:1: evaluator: must be script/1 for a script, or be left out",
		"script: {}\n":                  "1:9: script: must be text, not a mapping",
	} {
		_, _, err := readAgent("-", strings.NewReader(src))
		require.Error(t, err, src)
		assert.Contains(t, err.Error(), want, src)
	}

	_, run, err := readRun("-", strings.NewReader("agent:\n  script: |\n    def main(input):\n        return 1\ntasks: [{name: a}]\n"))
	require.NoError(t, err)
	assert.Equal(t, "script/1", run.Agent.Evaluator)
	assert.NotEmpty(t, run.Agent.Program)
}
