package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// codeOf are the lines of the blocks of code in a section of a page.
func codeOf(t *testing.T, page, section string) (lines []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(raw), "\n## "+section+"\n")
	require.True(t, ok, "%s has no section %s", page, section)
	text, _, _ = strings.Cut(text, "\n## ")
	for line := range strings.SplitSeq(text, "\n") {
		if code, ok := strings.CutPrefix(line, "    "); ok {
			code, _, _ = strings.Cut(code, " # ")
			lines = append(lines, strings.TrimSpace(code))
		}
	}
	return lines
}

// mustDo runs a line of a page that must succeed.
func mustDo(t *testing.T, line string) string {
	t.Helper()
	stdout, stderr, exit := omni(t, strings.Fields(strings.TrimPrefix(line, "omni "))...)
	require.Equal(t, api.ExitDone, exit, "%s: %s%s", line, stdout, stderr)
	return stdout
}

// What docs/security.md has typed to set authorization up does set it up: with the files
// and the variable that it names ann operates the cluster, and nobody does nothing.
func TestCommandsOfTheSecurityPage(t *testing.T) {
	lines := codeOf(t, "security.md", "Setting it up")
	require.Len(t, lines, 4)
	t.Setenv(serverVariable, solo.New(t, 1, solo.Setup{}).Serve(t, httpapi.Options{})[0])
	t.Setenv(tokenVariable, "")
	t.Chdir(t.TempDir())
	for _, line := range lines {
		if file, ok := strings.CutPrefix(line, `export OMNI_TOKEN="$(cat `); ok {
			content, err := os.ReadFile(strings.TrimSuffix(file, `)"`))
			require.NoError(t, err)
			t.Setenv(tokenVariable, strings.TrimSpace(string(content)))
			continue
		}
		mustDo(t, line)
	}
	require.Contains(t, mustDo(t, "omni auth whoami"), "admin")
	t.Setenv(tokenVariable, "")
	require.Contains(t, mustDo(t, "omni auth whoami --token-file ann.token"), "operator")
	mustDo(t, "omni node pause n1 --dry-run --token-file ann.token")
	require.Contains(t, mustDo(t, "omni auth status"), "on")
	_, stderr, exit := omni(t, "agent", "list")
	require.Equal(t, api.ExitRefused, exit)
	require.Contains(t, stderr, "OMNI_TOKEN")
}

// What docs/tls.md has typed makes the certificates that it speaks of, and another
// authority's in their place.
func TestCommandsOfTheTLSPage(t *testing.T) {
	lines := codeOf(t, "tls.md", "Setting up")
	rotate := codeOf(t, "tls.md", "Another authority, without a stop")
	require.Equal(t, []string{"omni tls rotate"}, rotate)
	t.Chdir(t.TempDir())
	var issued []string
	for _, line := range lines {
		if strings.HasPrefix(line, "omni tls ") {
			mustDo(t, line)
		}
		if strings.HasPrefix(line, "omni tls issue ") {
			issued = append(issued, line)
		}
	}
	require.Len(t, issued, 4)
	for _, file := range []string{"ca.pem", "ca-key.pem", "node-n1.pem", "node-n3-key.pem", "principal-ann.pem", "principal-ann-key.pem"} {
		require.FileExists(t, filepath.Join("tls", file))
	}
	require.Contains(t, mustDo(t, "omni tls inspect "+filepath.Join("tls", "node-n2.pem")), "node n2")
	mustDo(t, rotate[0])
	_, stderr, exit := omni(t, "tls", "rotate", "--finish")
	require.NotEqual(t, api.ExitDone, exit, "there are certificates of the old authority: %s", stderr)
	for _, line := range issued {
		mustDo(t, line+" --force")
	}
	mustDo(t, "omni tls rotate --finish")
}
