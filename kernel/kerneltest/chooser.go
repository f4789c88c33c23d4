package kerneltest

// Chooser makes the choices of a random history: a property draws them, so
// that a failing history shrinks, or Seeded does.
type Chooser interface {
	// Pick returns a number from 0 to n-1; what says what is chosen.
	Pick(what string, n int) int
}

// Seeded is a source that gives the same choices on every machine and under
// every version of Go: SplitMix64 (Steele, Lea, Flood: "Fast splittable
// pseudorandom number generators", 2014).
type Seeded struct{ state uint64 }

// NewSeeded starts at a seed.
func NewSeeded(seed uint64) *Seeded { return &Seeded{seed} }

// Pick chooses; that small remainders are a little likelier does not matter.
func (r *Seeded) Pick(_ string, n int) int {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}
