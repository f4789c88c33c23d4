// Package mcpimport makes manifests of what a server of the Model Context Protocol lists:
// one for each of its tools, which somebody reads, changes and registers.
//
// What is in a manifest is what the server said, but for two things. Names become those
// that programs here call: dotted lower-case words, and no two the same. And what a
// server hints at of its tools counts for nothing: none may be called twice unless the
// person who imports it says so (TO-14).
//
// The package asks nobody; cmd/omni asks the server, and the cluster.
package mcpimport
