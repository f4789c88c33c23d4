package mcpimport_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/mcpimport"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

func TestNames(t *testing.T) {
	for tool, want := range map[string]string{
		"read_file": "files.read_file", "readFile": "files.read_file", "Read.File": "files.read.file", "desk/pay": "files.desk.pay",
		"get-it": "files.get-it", "HTTPGet": "files.httpget", "get2Things": "files.get2_things", "größe": "files.gr__e", "..": "", "___": "",
		strings.Repeat("x", 200): "",
	} {
		assert.Equal(t, want, mcpimport.Name("files", tool), tool)
	}
	assert.Equal(t, "my_server.a.b", mcpimport.Name("My server/A", "b"))
	assert.Equal(t, "b", mcpimport.Name("", "b"))
}

func listing(names ...string) mcpclient.Listing {
	l := mcpclient.Listing{Name: "x", Version: "1.0"}
	for _, name := range names {
		l.Tools = append(l.Tools, &mcp.Tool{
			Name: name, Description: "Does: it\nwell.", Annotations: &mcp.ToolAnnotations{IdempotentHint: true, ReadOnlyHint: true},
			InputSchema: map[string]any{"type": "object", "properties": map[string]any{"yes": map[string]any{"type": "string", "default": "yes"}}},
		})
	}
	return l
}

// TO-14: what the server hints at counts for nothing, what the person says does; what is
// written is read back as it was.
func TestManifestsOfTools(t *testing.T) {
	l := listing("getIt", "pay")
	l.Tools[0].OutputSchema = map[string]any{"type": "object"}
	all, problem := mcpimport.Manifests(l, mcpimport.Choice{
		Server: mcpclient.Server{Name: "desk"}, Prefix: "desk", Idempotent: []string{"getIt"}, Timeout: 5000,
	})
	require.Nil(t, problem)
	require.Len(t, all, 2)
	assert.Equal(t, "desk.get_it", all[0].Name)
	assert.Equal(t, []bool{true, false}, []bool{all[0].Idempotent, all[1].Idempotent})
	assert.JSONEq(t, `{"server":"desk","tool":"getIt"}`, string(all[0].Config.AppendJSON(nil)))
	text, err := mcpimport.YAML(&all[0])
	require.NoError(t, err)
	assert.Equal(t, `name: desk.get_it
version: "1.0"
description: |-
  Does: it
  well.
adapter: mcp
config:
  tool: getIt
  server: desk
input:
  type: object
  properties:
    "yes":
      type: string
      default: "yes"
output:
  type: object
timeout_ms: 5000
idempotent: true
`, string(text))
	f, err := agentfile.Parse("x.yaml", text, agentfile.Tool)
	require.NoError(t, err)
	var back kerneltools.Manifest
	require.NoError(t, json.Unmarshal(f.Document(), &back))
	assert.Equal(t, all[0], back)

	all, problem = mcpimport.Manifests(l, mcpimport.Choice{
		Server: mcpclient.Server{URL: "https://a/mcp", Headers: map[string]string{"A": "secret:K"}, Private: true}, Secrets: []string{"K"}, Only: []string{"pay"},
	})
	require.Nil(t, problem)
	require.Len(t, all, 1)
	assert.Equal(t, "pay", all[0].Name)
	assert.Equal(t, []string{"K"}, all[0].Secrets)
	assert.JSONEq(t, `{"url":"https://a/mcp","headers":{"A":"secret:K"},"private":true,"tool":"pay"}`, string(all[0].Config.AppendJSON(nil)))
}

func TestToolsThatAreNoManifests(t *testing.T) {
	named := mcpimport.Choice{Server: mcpclient.Server{Name: "desk"}}
	only := named
	only.Only = []string{"nothing"}
	large := listing("x")
	large.Tools[0].InputSchema = map[string]any{"description": strings.Repeat("x", 70_000)}
	for want, row := range map[string]struct {
		listing mcpclient.Listing
		choice  mcpimport.Choice
	}{
		`tools "get.it" and "get/it" would both be get.it`: {listing("get.it", "pay", "get/it"), named},
		`tool "!!" has no name`:                            {listing("!!"), named},
		`has no tool "nothing"`:                            {listing("x"), only},
		`tool "x" has an input schema that is no value`:    {large, named},
		"a server that is a program must have a name":      {listing("x"), mcpimport.Choice{}},
	} {
		_, problem := mcpimport.Manifests(row.listing, row.choice)
		require.NotNil(t, problem, want)
		assert.Contains(t, problem.Error(), want)
	}
}
