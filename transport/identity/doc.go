// Package identity says whom a certificate speaks of: a node or a principal of one
// cluster, by a SPIFFE-style URI in it, and keeps the files that a node proves
// itself with.
//
//	spiffe://CLUSTER/node/ID
//	spiffe://CLUSTER/principal/NAME
//
// # Who calls it, in which order
//
// cmd/omni makes certificates that carry these URIs, opens a node's Store, and lets
// it look for new files while the node is up. Package raftstream asks the Store for
// what it shows to peers, and judges theirs by Store.Peer. The API asks Caller whom
// a request's connection was authenticated as.
//
// # What it never does
//
// It does not believe a host name: what a peer may do follows from the cluster and
// the id that an authority of the cluster has signed, wherever it runs. And it takes no
// file that does not fit the node: a new one that is wrong leaves the old one in
// use.
package identity
