package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A heap grows to the floor before it is collected, within bounds, and from the
// floor on by as much as is alive.
func TestGrowthFor(t *testing.T) {
	for live, want := range map[uint64]int{
		1:              800,
		12 << 20:       800,
		20 << 20:       460,
		heapFloor / 2:  100,
		heapFloor - 1:  100,
		heapFloor:      100,
		10 * heapFloor: 100,
	} {
		assert.Equal(t, want, growthFor(live), "%d bytes alive", live)
	}
}
