//go:build !planted_nosync

package raftstore

// syncs is whether an append is on the disk before it is called done.
const syncs = true
