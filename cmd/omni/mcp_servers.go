package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/cluster/tools/mcptool"
	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// mcpServers is what a file says of MCP servers, as editors write it down.
type mcpServers map[string]mcpclient.Server

// mcpServer is one of them, with what editors have beside.
type mcpServer struct {
	mcpclient.Server
	Type string `json:"type"`
}

const maxMCPServers = 100

// readMCPServers reads the file of --mcp-servers: a mapping mcpServers from names to
// programs or URLs. No file has no server.
func readMCPServers(name string) (mcpServers, error) {
	if name == "" {
		return nil, nil
	}
	f, err := agentfile.Read(name, strings.NewReader(""), agentfile.MCPServers)
	if err != nil {
		return nil, err
	}
	var found map[string]json.RawMessage
	if err := json.Unmarshal(f.JSON("mcpServers"), &found); err != nil {
		return nil, &agentfile.Problem{File: f.Name, Field: "mcpServers", Rule: "must be a mapping from names to servers"}
	}
	if len(found) > maxMCPServers {
		return nil, &agentfile.Problem{File: f.Name, Field: "mcpServers", Rule: "must be at most 100"}
	}
	servers := make(mcpServers, len(found))
	for _, server := range slices.Sorted(maps.Keys(found)) {
		one, field, rule := readMCPServer(server, found[server])
		if rule != "" {
			problem := &agentfile.Problem{File: f.Name, Field: "mcpServers." + value.JoinKey(server, field), Rule: rule}
			problem.Line, problem.Column, _ = f.At(problem.Field)
			return nil, problem
		}
		servers[server] = one
	}
	return servers, nil
}

// readMCPServer reads one, or says which member of it is wrong, and why.
func readMCPServer(name string, text json.RawMessage) (_ mcpclient.Server, field, rule string) {
	var said mcpServer
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&said); err != nil {
		_, why, _ := strings.Cut(err.Error(), "json: ")
		return said.Server, "", "is no server: it has command, args, env and cwd, or url, headers and private (" + why + ")"
	}
	if _, more := decoder.Token(); more != io.EOF {
		return said.Server, "", "is no server"
	}
	said.Name = name
	one := said.Server
	switch {
	case !isServerName(name):
		return one, "", "is no name: it must be letters, digits, _, - and dots, at most 64 bytes"
	case one.Command == "" && one.URL == "":
		return one, "", "must have a command or a url"
	case one.Command != "" && one.URL != "":
		return one, "url", "must not be there beside command"
	case said.Type == "sse":
		return one, "type", "is a transport that the protocol has given up: stdio and http are known"
	case said.Type != "" && (said.Type == "stdio") != (one.Command != ""), !slices.Contains([]string{"", "stdio", "http", "streamable-http"}, said.Type):
		return one, "type", "must be stdio with command, and http or streamable-http with url"
	case one.URL != "" && (one.Args != nil || one.Env != nil || one.Dir != ""):
		return one, "url", "is reached as it is: args, env and cwd are for a command"
	case one.Command != "" && (one.Headers != nil || one.Private):
		return one, "command", "is started: headers and private are for a url"
	}
	field, rule = ruleOfMCPServer(one)
	return one, field, rule
}

// ruleOfMCPServer looks at what a server's members say.
func ruleOfMCPServer(one mcpclient.Server) (field, rule string) {
	if one.URL != "" {
		if rule := mcptool.URLRule(one.URL); rule != "" {
			return "url", rule
		}
	}
	for _, name := range slices.Sorted(maps.Keys(one.Headers)) {
		if rule := httprequest.HeaderRule(name, one.Headers[name]); rule != "" {
			return "headers." + name, rule
		}
	}
	for _, name := range slices.Sorted(maps.Keys(one.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(one.Env[name], "\x00") {
			return "env", "must be names without =, and texts without zero bytes"
		}
	}
	return "", ""
}

func isServerName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return name != "" && len(name) <= 64
}
