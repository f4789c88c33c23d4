// Package mcptool makes tools of what servers of the Model Context Protocol have: the kind
// `mcp` of manifests (TO-14).
//
// A manifest names one tool of one server. The server is one that the operator named to
// the node, by a program or by a URL, or a URL of the manifest's own; programs are the
// operator's alone to name. The tools of a server on one node share a connection
// (cluster/tools/mcpclient), which is there while one of them is.
//
// What a server says of its tools, of their being safe to call twice above all, counts for
// nothing here: a manifest says it, and each is judged at the gate like any other.
package mcptool
