//go:build !race

package expr

// slowdown is how much longer than alone things may take in this build.
const slowdown = 1
