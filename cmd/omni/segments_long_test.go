//go:build long

package main

import (
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// A longer course over each Raft store (LO-1, LO-2).
func TestSegmentsAreAlikeForLong(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		segmentsAlike(t, store, testSeed(t), 90*time.Second)
	})
}

// The same with archiving among it, and a node that loses its disk when no archive is
// left (LO-8).
func TestArchivesAreAlikeForLong(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		archivesAlike(t, store, testSeed(t), 40*time.Second, true)
	})
}
