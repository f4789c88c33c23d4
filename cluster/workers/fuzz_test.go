package workers

import (
	"testing"
)

// FuzzReadToken: what is taken for a lease of this cluster is one, to the byte,
// and of no other cluster.
func FuzzReadToken(f *testing.F) {
	seed, other := []byte("seed of this cluster"), []byte("seed of another one")
	var lease Lease
	lease.Key.Agent, lease.Key.Tick, lease.Key.Call, lease.Fence = 7, 3, 1, 9
	for _, token := range []string{lease.Token(seed), lease.Token(other), "", "1.2.3.4.", "1.2.3.4.5.6", "01.2.3.4.aaaaaaaaaaaaaaaa", "-1.2.3.4.x"} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		read, ok := ReadToken(token, seed)
		if _, both := ReadToken(token, other); both && ok {
			t.Fatalf("%q is of two clusters", token)
		}
		if ok && read.Token(seed) != token {
			t.Fatalf("%q was taken for %q", token, read.Token(seed))
		}
	})
}
