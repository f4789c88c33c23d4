package client

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Whatever order answers come in: sequences are given once, in order, inside
// the window; the floor is the lowest that is not settled.
func TestSessionWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSession()
		s.begin("a")
		open := map[uint64]ticket{}
		next := uint64(1)
		full, cancel := context.WithCancel(context.Background())
		cancel()
		for range rapid.IntRange(1, 600).Draw(t, "steps") {
			floor := next
			for seq := range open {
				floor = min(floor, seq)
			}
			n := rapid.Uint64Range(1, 4).Draw(t, "n")
			if len(open) > 0 && rapid.Bool().Draw(t, "settle") {
				seqs := make([]uint64, 0, len(open))
				for seq := range open {
					seqs = append(seqs, seq)
				}
				seq := rapid.SampledFrom(seqs).Draw(t, "which")
				s.settle(open[seq])
				delete(open, seq)
				continue
			}
			got, ok, err := s.take(full, n)
			if next+n > floor+api.SessionWindow {
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("took %d at floor %d, next %d", n, floor, next)
				}
				continue
			}
			if err != nil || !ok || got.seq != next {
				t.Fatalf("take gave %v, %v, %v; next is %d", got, ok, err, next)
			}
			for i := range n {
				open[next+i] = ticket{got.id, next + i}
			}
			next += n
			if f := s.floorOf(got); f != floor {
				t.Fatalf("floor is %d, not %d", f, floor)
			}
		}
	})
}

// Who waits for room gets it when the lowest is settled, not when another is.
func TestSessionWaitsForTheLowest(t *testing.T) {
	s := newSession()
	s.begin("a")
	first, _, err := s.take(t.Context(), api.SessionWindow)
	require.NoError(t, err)
	got := make(chan ticket)
	go func() {
		waited, _, err := s.take(t.Context(), 1)
		assert.NoError(t, err)
		got <- waited
	}()
	s.settle(ticket{"a", first.seq + 1})
	select {
	case <-got:
		t.Fatal("the window was full")
	case <-time.After(20 * time.Millisecond): // would have come at once
	}
	s.settle(first)
	assert.Equal(t, ticket{"a", 257}, <-got)
}

// A session that ends lets those that wait ask for another.
func TestSessionThatEnds(t *testing.T) {
	s := newSession()
	_, ok, err := s.take(t.Context(), 1)
	require.NoError(t, err)
	assert.False(t, ok, "none is open")
	s.begin("a")
	old, _, err := s.take(t.Context(), api.SessionWindow)
	require.NoError(t, err)
	var waited sync.WaitGroup
	waited.Go(func() {
		_, ok, err := s.take(t.Context(), 1)
		assert.NoError(t, err)
		assert.False(t, ok)
	})
	s.end("b") // not this one
	s.end("a")
	waited.Wait()
	s.begin("b")
	s.settle(old) // of the old one
	fresh, ok, err := s.take(t.Context(), 1)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, ticket{"b", 1}, fresh)
	assert.Equal(t, uint64(1), s.floorOf(fresh))
}
