//go:build planted_nosync

package raftstore

// syncs is wrong on purpose: entries are acknowledged that a power cut takes
// away. The fault tests must notice (jepsen/README.md).
const syncs = false
