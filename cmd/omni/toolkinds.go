package main

import (
	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/human"
	"github.com/omnikernel/omnikernel/cluster/tools/llm"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/cluster/tools/mcptool"
	"github.com/omnikernel/omnikernel/cluster/tools/worker"
)

// toolKinds are the kinds of adapters that registered tools can name.
func toolKinds(maxResultBytes int, servers mcpServers, logger hclog.Logger) []tools.Kind {
	http := httprequest.NewKind(httprequest.Options{Secrets: secretFromEnvironment, MaxResultBytes: maxResultBytes})
	mcp := mcptool.NewKind(mcptool.Options{Servers: servers, MaxResultBytes: maxResultBytes, Client: mcpOptions(logger)})
	return []tools.Kind{http, llm.NewKind(http), mcp, human.Kind{}, worker.Kind{}}
}

// mcpOptions are what connections to MCP servers are made with, on a node and from the
// command line.
func mcpOptions(logger hclog.Logger) mcpclient.Options {
	return mcpclient.Options{Secrets: secretFromEnvironment, Version: thisBuild().Version, Logger: logger}
}
