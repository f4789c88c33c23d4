package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/config"
	evaluators "github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Every manifest, program and list of grants in docs/tools.md is one that is taken.
func TestSnippetsOfTools(t *testing.T) {
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", "tools.md"))
	require.NoError(t, err)
	servers, err := readMCPServers(serversFile(t, regexp.MustCompile("(?s)```json\n(\\{\\s*\"mcpServers\".*?)```").FindStringSubmatch(string(content))[1]))
	require.NoError(t, err)
	limits := config.Default()
	run := programs{dir: t.TempDir(), level: "auto", uid: 65534}
	run.prepare(t.TempDir(), hclog.NewNullLogger())
	registry, err := tools.New(tools.Options{Kinds: append(toolKinds(int(limits.MaxValueBytes), servers, hclog.NewNullLogger()), run.kinds()...)})
	require.NoError(t, err)
	words := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(content)
	require.NotNil(t, words)
	require.NoError(t, os.WriteFile(filepath.Join(run.dir, "words"), words[1], 0o600))
	require.NoError(t, os.Chmod(filepath.Join(run.dir, "words"), 0o755))
	var manifests, programs, grants int
	var exec tools.Request
	for _, found := range regexp.MustCompile("(?s)```(yaml|json)\n(.*?)```").FindAllStringSubmatch(string(content), -1) {
		language, snippet := found[1], found[2]
		switch {
		case strings.Contains(snippet, `"mcpServers"`): // read above
		case language == "json":
			programs++
			source, problem := value.FromJSON([]byte(snippet), 1<<16)
			require.Nil(t, problem)
			std, ok := evaluators.Lookup("std/1")
			require.True(t, ok)
			_, refused := std.Compile(source)
			assert.Nil(t, refused, snippet)
		case strings.HasPrefix(snippet, "grants:"):
			grants++
			_, err := agentfile.Parse("agent.yaml", []byte(snippet), agentfile.Agent)
			assert.NoError(t, err)
		default:
			manifests++
			_, command, err := readManifest("-", strings.NewReader(snippet))
			require.NoError(t, err)
			refused := command.Manifest.Check(limits.MaxManifestBytes, limits.MaxCallTimeoutMillis)
			require.Nil(t, refused, "%+v", refused)
			refused = registry.Check(&command.Manifest)
			assert.Nil(t, refused, "%+v", refused)
			if command.Manifest.Adapter == "exec" {
				exec = tools.Request{Tool: command.Manifest.Name, Timeout: time.Minute, Revision: 1, Manifest: &command.Manifest}
			}
		}
	}
	assert.Equal(t, []int{6, 2, 1}, []int{manifests, programs, grants})

	require.NotNil(t, exec.Manifest, "the program is run")
	if runtime.GOOS != "linux" {
		return
	}
	require.NoError(t, run.open())
	exec.Args, _ = value.FromGo(map[string]any{"text": "one fine day"})
	got := registry.Run(t.Context(), exec)
	assert.JSONEq(t, `{"words": 3, "longest": "fine"}`, string(got.Value.AppendJSON(nil)), got.Message)
	assert.Equal(t, uint64(3), got.Usage.Tokens)
	assert.NoError(t, run.close())
}
