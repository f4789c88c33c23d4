package segment

import "github.com/omnikernel/omnikernel/kernel/logging"

// divergence names the first difference between a stored block and the one that
// was derived again (LO-3: helps to name the first differing record).
func divergence(position uint64, stored *logging.Block, derivedRaw []byte) *DivergenceError {
	e := &DivergenceError{Position: position, Index: stored.Index}
	derived, err := logging.Decode(derivedRaw)
	if err != nil {
		e.What = "the derived block is malformed"
		return e
	}
	first := logging.DifferenceOf(stored, &derived)
	e.Index, e.Seq, e.What = derived.Index, first.Seq, first.What
	return e
}
