// Package traffic is what clients do to a cluster during a fault test.
//
// A Workload is one kind of thing that people do, with its own rules for what must
// hold: package check knows them. The experiment calls Setup once while nothing is
// wrong, then lets several Workers run Work at the same time until their context
// ends, and calls Finish when every fault is over and all nodes are well, to read
// what is there. Everything goes through transport/client, as any user's would, but
// for Repeat, which is a plain HTTP caller, since a client does not send again what
// it has an answer to; and everything is recorded before it is sent.
//
// Proxies of package proxy may stand before the nodes, and lose answers. Service is
// the world outside, which counts what is done to it.
//
// What it never does: send an operation whose outcome it does not settle, or call
// an outcome known that is not. A worker whose operation has an unknown outcome
// takes a new process number, since the old one may still be at it.
package traffic
