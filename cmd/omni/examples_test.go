package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every example is run by a transcript, and so is every command of its README:
// whoever changes one of them changes the other. That of react needs services of its
// own: TestReactSurvivesItsLeaders runs it, by its README.
func TestExamplesAreRun(t *testing.T) {
	transcript, err := os.ReadFile("testdata/cluster/examples.txtar")
	require.NoError(t, err)
	files, err := filepath.Glob("../../examples/*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if name := filepath.Base(filepath.Dir(file)); name != "hello" && name != "react" { // the others' transcripts run hello
			assert.Contains(t, string(transcript), "$EXAMPLES/"+name+"/"+filepath.Base(file))
		}
	}
	readmes, err := filepath.Glob("../../examples/*/README.md")
	require.NoError(t, err)
	require.NotEmpty(t, readmes)
	for _, readme := range readmes {
		if filepath.Base(filepath.Dir(readme)) == "react" {
			continue
		}
		text, err := os.ReadFile(readme)
		require.NoError(t, err)
		commands := 0
		for line := range strings.Lines(string(text)) {
			if command := strings.TrimSpace(line); strings.HasPrefix(command, "omni ") {
				commands++
				assert.Contains(t, string(transcript), strings.ReplaceAll(command, "examples/", "$EXAMPLES/"), readme)
			}
		}
		assert.Positive(t, commands, readme)
	}
}
