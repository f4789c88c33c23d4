package cluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

// TO-10: never more calls of a revision than it allows, and whoever waited longest is
// next; whoever found a place otherwise is not called again.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turn := newTurns()
		running, waiting := map[uint64][]tools.Key{}, map[uint64][]tools.Key{}
		has := func(list []tools.Key, key tools.Key) int {
			for i := range list {
				if list[i] == key {
					return i
				}
			}
			return -1
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			revision := rapid.Uint64Range(1, 2).Draw(t, "revision")
			most := uint32(revision)
			if rapid.Bool().Draw(t, "ends") && len(running[revision]) > 0 {
				running[revision] = running[revision][1:]
				next, ok := turn.give(revision)
				assert.Equal(t, len(waiting[revision]) > 0, ok)
				if ok {
					assert.Equal(t, waiting[revision][0], next)
					waiting[revision] = waiting[revision][1:]
				}
				continue
			}
			key := tools.Key{Agent: uint32(revision), Call: rapid.Uint32Range(1, 9).Draw(t, "call")}
			if has(running[revision], key) >= 0 {
				continue // the runner does not ask for what it runs
			}
			took := turn.take(revision, key, most)
			assert.Equal(t, uint32(len(running[revision])) < most, took)
			at := has(waiting[revision], key)
			switch {
			case took:
				running[revision] = append(running[revision], key)
				if at >= 0 {
					waiting[revision] = append(waiting[revision][:at:at], waiting[revision][at+1:]...)
				}
			case at < 0:
				waiting[revision] = append(waiting[revision], key)
			}
		}
	})
}

// A leader that begins forgets who waited before; what still runs counts.
func TestTurnsOfAnotherTerm(t *testing.T) {
	turn := newTurns()
	one, two := tools.Key{Call: 1}, tools.Key{Call: 2}
	assert.True(t, turn.take(1, one, 1))
	assert.False(t, turn.take(1, two, 1))
	turn.reset()
	assert.False(t, turn.take(1, two, 1))
	next, ok := turn.give(1)
	assert.True(t, ok)
	assert.Equal(t, two, next)
	assert.Empty(t, turn.busy)
	for call := range uint32(defaultConcurrency) {
		assert.True(t, turn.take(2, tools.Key{Call: call}, 0))
	}
	assert.False(t, turn.take(2, tools.Key{Call: 1 << 20}, 0), "a manifest that says nothing")
}
