package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	registry, err := tools.New(tools.Options{Kinds: toolKinds(int(limits.MaxValueBytes), servers, hclog.NewNullLogger())})
	require.NoError(t, err)
	var manifests, programs, grants int
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
		}
	}
	assert.Equal(t, []int{5, 2, 1}, []int{manifests, programs, grants})
}
