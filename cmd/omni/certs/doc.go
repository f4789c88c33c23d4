// Package certs keeps a cluster's certificates in a directory: the authority, its key,
// and what it signed for nodes and principals. omni tls is its face.
//
//	ca.pem              the authorities that every node and client trusts
//	ca-key.pem          the key that signs
//	node-ID.pem         a node's certificate, and node-ID-key.pem its key
//	principal-NAME.pem  a principal's, and principal-NAME-key.pem
//
// # Who calls it, in which order
//
// Init once; Issue for each node and principal; Rotate when the authority is to be
// another one, Issue again, Finish. Inspect and Ask tell what certificates say, those
// of files and those that a server shows.
//
// # What it never does
//
// It replaces no file unless it is told to, and shows nobody a key: keys are readable by
// their owner only.
package certs
