// Package proxy stands before a node's HTTP API and loses answers: the node does
// what it is asked to, and nobody is told.
//
// A run makes one Proxy for each node with New, gives its URL to the clients, and
// to the nodes as the address of that node's API, so that whoever is sent on to the
// leader comes through its proxy too. Set switches what goes wrong, at any time.
// Close ends it.
//
// What it never does: keep a request from the node, change one, or send a command twice.
// Streams pass as they come. Where it cannot connect to the node, so that nobody was
// asked, it says so with UNREACHABLE.
package proxy
