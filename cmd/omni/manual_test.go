package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// inProcess runs a command line in this process.
func inProcess(t *testing.T, args ...string) (stdout, stderr string, exit api.Exit) {
	t.Helper()
	var out, talk bytes.Buffer
	exit = run(t.Context(), args, nil, tell.New(&out, &talk))
	return out.String(), talk.String(), exit
}

// Every command has a page with all of its flags, and the pages do not depend on when
// and where they are written.
func TestManual(t *testing.T) {
	first, second := t.TempDir(), filepath.Join(t.TempDir(), "made")
	for _, dir := range []string{first, second} {
		_, stderr, exit := inProcess(t, "man", dir)
		require.Equal(t, api.ExitDone, exit, stderr)
	}
	pages := 0
	each(newRoot(&app{}), func(c *cobra.Command) {
		pages++
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		page, err := os.ReadFile(filepath.Join(first, name))
		require.NoError(t, err)
		again, err := os.ReadFile(filepath.Join(second, name))
		require.NoError(t, err)
		assert.Equal(t, string(page), string(again), name)
		text := strings.ReplaceAll(string(page), `\-`, "-")
		assert.Contains(t, text, c.Short, name)
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			assert.Contains(t, text, "--"+f.Name, name)
		})
	})
	found, err := filepath.Glob(filepath.Join(first, "*"))
	require.NoError(t, err)
	assert.Len(t, found, pages)
}

// What is printed for bash is a script that bash takes, and it completes.
func TestCompletion(t *testing.T) {
	for _, shell := range shells {
		script, stderr, exit := inProcess(t, "completion", shell)
		require.Equal(t, api.ExitDone, exit, stderr)
		assert.Contains(t, script, "omni", shell)
	}
	_, stderr, exit := inProcess(t, "completion", "nosh")
	assert.Equal(t, api.ExitUsage, exit)
	assert.Contains(t, stderr, "bash, zsh, fish, powershell")

	script, _, _ := inProcess(t, "completion", "bash")
	if bash, err := exec.LookPath("bash"); err == nil {
		check := exec.Command(bash, "-n")
		check.Stdin = strings.NewReader(script)
		output, err := check.CombinedOutput()
		require.NoError(t, err, string(output))
	}
	omni, err := exec.LookPath("omni")
	require.NoError(t, err)
	said, err := exec.Command(omni, "__complete", "node", "sta").Output()
	require.NoError(t, err)
	assert.Contains(t, string(said), "status\t")
}
