package nodes

import (
	"math/rand/v2"
	"sync"
)

// dice is a source of numbers that goroutines may share.
type dice struct {
	mu     sync.Mutex // guards random
	random *rand.Rand
}

func newDice(seed uint64, purpose string) *dice {
	var stream uint64
	for _, c := range purpose {
		stream = stream*131 + uint64(c)
	}
	return &dice{random: rand.New(rand.NewPCG(seed, stream))}
}

// intN is a number from 0 to n-1.
func (d *dice) intN(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(n)
}

// shuffled is a permutation of 0 to n-1.
func (d *dice) shuffled(n int) []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.Perm(n)
}
