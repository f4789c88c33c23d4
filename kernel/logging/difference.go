package logging

import "bytes"

// Difference is the first thing in which two blocks differ that should be the
// same one.
type Difference struct {
	What string // differs, in words; empty when nothing does
	Seq  uint64 // busSeq of the record that differs; 0 when it is not in one record

	A, B *Record // it, in both blocks; nil in the one that has no further record
}

// DifferenceOf compares two decoded blocks: their heads, then record by record,
// then their lists of agents (LO-3: "helps to name the first differing record").
func DifferenceOf(a, b *Block) Difference {
	switch {
	case a.Index != b.Index:
		return Difference{What: "index"}
	case a.Term != b.Term:
		return Difference{What: "term"}
	case a.FirstSeq != b.FirstSeq:
		return Difference{What: "busSeq"}
	case a.PrevChain != b.PrevChain:
		return Difference{What: "chain before the block"}
	case a.ClockMillis != b.ClockMillis:
		return Difference{What: "kernel clock"}
	case bytes.Equal(a.Raw, b.Raw):
		return Difference{}
	}
	x, y := a.Records(), b.Records()
	for {
		more, also := x.Next(), y.Next()
		switch {
		case !more && !also:
			return Difference{What: "pointers of agents"}
		case !more:
			return Difference{What: "number of records", Seq: y.Record.Seq, B: &y.Record}
		case !also:
			return Difference{What: "number of records", Seq: x.Record.Seq, A: &x.Record}
		case x.Record.Header != y.Record.Header:
			return Difference{What: "header of a record", Seq: x.Record.Seq, A: &x.Record, B: &y.Record}
		case !bytes.Equal(x.Record.Body, y.Record.Body):
			return Difference{What: "body of a record", Seq: x.Record.Seq, A: &x.Record, B: &y.Record}
		}
	}
}
