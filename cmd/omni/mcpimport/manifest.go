package mcpimport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Choice is what the person says who imports.
type Choice struct {
	Server     mcpclient.Server // with a name it is one of the nodes' files; without, its URL is in the manifests
	Secrets    []string         // that its headers name
	Prefix     string           // of names
	Only       []string         // as the server calls them; all when empty
	Idempotent []string         // as the server calls them: may be called twice
	Timeout    int64            // of each, in milliseconds; 0 leaves it to the kernel
}

// Problem is why there are no manifests.
type Problem struct{ Rule, Hint string }

func (p *Problem) Error() string { return p.Rule }

// Bounds of what people read in a manifest.
const (
	maxDescription = 4096
	maxVersion     = 64
	maxSchema      = 64 << 10
)

// Manifests makes one of each tool that was chosen, in the server's order.
func Manifests(listing mcpclient.Listing, c Choice) ([]kerneltools.Manifest, *Problem) {
	config, problem := c.config()
	if problem != nil {
		return nil, problem
	}
	for _, name := range slices.Concat(c.Only, c.Idempotent) {
		if !slices.ContainsFunc(listing.Tools, func(t *mcp.Tool) bool { return t.Name == name }) {
			return nil, &Problem{fmt.Sprintf("the server has no tool %q", name), "it has: " + strings.Join(namesOf(listing.Tools), ", ")}
		}
	}
	var all []kerneltools.Manifest
	taken := make(map[string]string)
	for _, t := range listing.Tools {
		if len(c.Only) > 0 && !slices.Contains(c.Only, t.Name) {
			continue
		}
		name := Name(c.Prefix, t.Name)
		other, twice := taken[name]
		switch {
		case name == "":
			return nil, &Problem{fmt.Sprintf("the server's tool %q has no name that can be made dotted lower-case words", t.Name), "leave it out: name the others with --only"}
		case twice:
			return nil, &Problem{fmt.Sprintf("the server's tools %q and %q would both be %s", other, t.Name, name), "leave one of them out: name the others with --only"}
		}
		taken[name] = t.Name
		m, problem := c.manifest(name, listing.Version, t, config)
		if problem != nil {
			return nil, problem
		}
		all = append(all, m)
	}
	return all, nil
}

func namesOf(tools []*mcp.Tool) (names []string) {
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}

// config is the part of every manifest that says which server it is.
func (c *Choice) config() (map[string]any, *Problem) {
	if c.Server.Name != "" {
		return map[string]any{"server": c.Server.Name}, nil
	}
	if c.Server.URL == "" {
		return nil, &Problem{"a server that is a program must have a name", ""}
	}
	config := map[string]any{"url": c.Server.URL}
	if len(c.Server.Headers) > 0 {
		headers := make(map[string]any, len(c.Server.Headers))
		for name, text := range c.Server.Headers {
			headers[name] = text
		}
		config["headers"] = headers
	}
	if c.Server.Private {
		config["private"] = true
	}
	return config, nil
}

func (c *Choice) manifest(name, version string, t *mcp.Tool, server map[string]any) (kerneltools.Manifest, *Problem) {
	m := kerneltools.Manifest{
		Name: name, Version: cut(version, maxVersion), Description: cut(t.Description, maxDescription), Adapter: "mcp",
		TimeoutMillis: c.Timeout, Idempotent: slices.Contains(c.Idempotent, t.Name),
	}
	config := map[string]any{"tool": t.Name}
	for member, v := range server {
		config[member] = v
	}
	var broken *value.Problem
	if m.Config, broken = value.FromGo(config); broken != nil {
		return m, &Problem{fmt.Sprintf("the server's tool %q: %s", t.Name, broken), ""}
	}
	if c.Server.Name == "" {
		m.Secrets = c.Secrets
	}
	for _, s := range []struct {
		is   string
		said any
		to   *value.Raw
	}{{"input", t.InputSchema, &m.Input}, {"output", t.OutputSchema, &m.Output}} {
		if s.said == nil {
			continue
		}
		text, err := json.Marshal(s.said)
		if err == nil {
			*s.to, broken = value.FromJSON(text, maxSchema)
		}
		if err != nil || broken != nil {
			return m, &Problem{fmt.Sprintf("the server's tool %q has an %s schema that is no value, or too large", t.Name, s.is), "leave it out: name the others with --only"}
		}
	}
	return m, nil
}

// cut shortens a text for people to so many bytes, and makes it UTF-8.
func cut(text string, most int) string {
	text = strings.ToValidUTF8(text, "?")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") // a letter that was cut in two goes
	}
	return text
}
