package segment

import (
	"bytes"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// divergence names the first difference between a stored block and the one that
// was derived again (LO-3: helps to name the first differing record).
func divergence(position uint64, stored *logging.Block, derivedRaw []byte) *DivergenceError {
	e := &DivergenceError{Position: position, Index: stored.Index}
	derived, err := logging.Decode(derivedRaw)
	if err != nil {
		e.What = "the derived block is malformed"
		return e
	}
	e.Index = derived.Index
	switch {
	case stored.Index != derived.Index:
		e.What = "index"
	case stored.Term != derived.Term:
		e.What = "term"
	case stored.FirstSeq != derived.FirstSeq:
		e.What = "busSeq"
	case stored.PrevChain != derived.PrevChain:
		e.What = "chain before the block"
	case stored.ClockMillis != derived.ClockMillis:
		e.What = "kernel clock"
	default:
		e.Seq, e.What = firstRecord(stored, &derived)
	}
	return e
}

// firstRecord finds the first record that differs.
func firstRecord(stored, derived *logging.Block) (seq uint64, what string) {
	a, b := stored.Records(), derived.Records()
	for {
		more, also := a.Next(), b.Next()
		switch {
		case !more && !also:
			return 0, "pointers of agents"
		case more != also:
			return derived.FirstSeq + uint64(min(stored.Count, derived.Count)), "number of records"
		case a.Record.Header != b.Record.Header:
			return b.Record.Seq, "header of a record"
		case !bytes.Equal(a.Record.Body, b.Record.Body):
			return b.Record.Seq, "body of a record"
		}
	}
}
