package consensus

import (
	"bytes"
	"testing"
)

// FuzzPeerState: what is taken for a peer's account of itself says what was
// sent, to the byte.
func FuzzPeerState(f *testing.F) {
	f.Add(peerState{nonce: 1, term: 2, last: 3, wall: 4, node: "n1"}.encode())
	f.Add(make([]byte, peerStateHead))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, sent []byte) {
		state, err := decodePeerState(sent)
		if err == nil && !bytes.Equal(state.encode(), sent) {
			t.Fatalf("%x was taken for %+v", sent, state)
		}
	})
}
