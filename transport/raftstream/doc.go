// Package raftstream carries what nodes say to each other: the Raft library's
// streams, small questions between peers, and the history that a node fetches
// from others, over one TCP port.
//
// Who calls it, in which order: the node calls Listen once; for every kernel
// it hosts, Endpoint.Kernel; hands Kernel.Layer to that kernel's Raft group,
// registers handlers at Kernel.Peers and Kernel.History, and asks other nodes
// through them. It closes a kernel when its group has stopped, and the endpoint
// last.
//
// The three never share a connection. What is urgent does not wait behind what is
// large: a heartbeat behind a question, or either behind a mebibyte of history.
//
// A stream begins with a handshake (hello.go): who is calling, which cluster,
// which kernel, and which kind of stream. It is answered with "ok" or with a
// code, so that a node with a wrong configuration learns why it is turned away
// instead of damaging a group it does not belong to.
//
// What is bounded, and by what:
//
//   - the handshake: bytes, time, and how many are under way. Each has a
//     goroutine and a deadline of its own, so a client that connects and says
//     nothing delays nobody (and Accept of the Raft library never waits for one);
//   - streams in total; frames in bytes; calls in time; connections per peer.
//
// What it never does: interpret what it carries, retry a write, or trust a
// node id without TLS. With TLS both sides show certificates, by which the cluster's
// authority says which node they are (package identity); without it the port must
// not be reachable by strangers.
package raftstream
