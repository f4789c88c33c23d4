package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
)

// Every file in docs/agents.md is one that can be written, and every command there says
// what the page says that it says. UPDATE=1 writes what it says into the page.
func TestSnippetsOfAgents(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "agents.md")
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	dir := t.TempDir()
	files, commands := 0, 0
	block := regexp.MustCompile("(?s)```(yaml|console)\n(.*?)```")
	anew := block.ReplaceAllStringFunc(string(page), func(found string) string {
		parts := block.FindStringSubmatch(found)
		if parts[1] == "yaml" {
			files++
			name, _, _ := strings.Cut(strings.TrimPrefix(parts[2], "# "), "\n")
			if !strings.HasSuffix(name, ".yaml") || strings.Contains(name, " ") {
				_, err := agentfile.Parse("snippet", []byte(parts[2]), agentfile.Agent)
				require.NoError(t, err)
				return found
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(parts[2]), 0o600))
			return found
		}
		var said strings.Builder
		for line := range strings.Lines(parts[2]) {
			if command, ok := strings.CutPrefix(line, "$ omni "); ok {
				commands++
				said.WriteString(line + omniIn(t, dir, strings.TrimSpace(command)))
			}
		}
		return "```console\n" + said.String() + "```"
	})
	if os.Getenv("UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(anew), 0o644))
		page = []byte(anew)
	}
	assert.Equal(t, string(page), anew, "UPDATE=1 go test -run TestSnippetsOfAgents ./cmd/omni")
	assert.Equal(t, []int{6, 6}, []int{files, commands})
}

// omniIn runs a command line in a directory and gives all that it says.
func omniIn(t *testing.T, dir, line string) string {
	t.Helper()
	var args []string
	for _, word := range regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1) {
		args = append(args, strings.Trim(word, "'"))
	}
	command := exec.Command("omni", args...)
	command.Dir = dir
	said, err := command.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return string(said)
}
