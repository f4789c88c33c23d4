// Package authority makes certificates: a cluster's own authority, and what it signs for
// nodes and principals (package identity says what stands in them).
//
// # Who calls it, in which order
//
// cmd/omni makes an authority once with New, or reads it again with Read, and lets it
// Issue. Tests make as many as they need.
//
// # What it never does
//
// It touches no file, and no node has it: the key that signs is for a safe place, not for
// the machines of the cluster.
package authority
