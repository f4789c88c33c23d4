// Package mcpserver is the kernel as a server of the Model Context Protocol: its
// agents, escalations, runs, tools, memory and log, as tools that any MCP client can
// call.
//
// New makes a server of a client of the cluster. Stdio then serves one MCP client over
// a pair of streams, Serve any number over HTTP, until the context or the other side
// ends it. Every tool is one call of transport/client, or a few: a table in catalog.go
// has them all, a file for each subject has what they do. Arguments are checked
// against the tool's JSON Schema before anything is sent; what is refused, here or by
// the cluster, is a result with isError that says code, field, rule and hint, so that
// a model can put it right.
//
// Everything is bounded: messages, results, what runs at once, how long a call waits,
// connections.
//
// It never does more than its client of the cluster may, keeps nothing between calls,
// and never answers with what a panic or a library said.
package mcpserver
