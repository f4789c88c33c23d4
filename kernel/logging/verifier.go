package logging

// Verifier checks that blocks, fed in order, are one unbroken log from a given
// point (LO-1): each decodes, busSeq is dense, indices increase, terms and clock
// do not go back, every chain value is the one that the blocks before it give,
// and pointers lead backwards. It keeps nothing but the point it has reached.
//
// From Genesis(kernelID).Point it proves the whole log up to a chain value that
// one trusts; from a segment's beginning, that segment.
type Verifier struct {
	at      Point
	failure *Mismatch
}

// NewVerifier begins at a point.
func NewVerifier(from Point) *Verifier { return &Verifier{at: from} }

// Point is where the verifier has come to: after the last good block.
func (v *Verifier) Point() Point { return v.at }

// Feed checks the next block, which must be exactly one. The first failure, a
// *Mismatch, is final: every later call returns it again.
func (v *Verifier) Feed(raw []byte) error {
	_, _, err := v.Next(raw)
	return err
}

// Next is Feed for whoever reads the block too: it gives the block, which aliases
// raw, and its digest.
func (v *Verifier) Next(raw []byte) (b Block, digest [HashBytes]byte, err error) {
	if v.failure == nil {
		if b, err = Decode(raw); err != nil {
			v.failure = &Mismatch{Position: v.at.Position, Index: v.at.LastIndex, Aspect: AspectBlock, Err: err}
		} else {
			digest = b.Digest()
			v.failure = v.check(&b, digest)
		}
	}
	if v.failure != nil {
		return Block{}, digest, v.failure
	}
	return b, digest, nil
}

func (v *Verifier) check(b *Block, digest [HashBytes]byte) *Mismatch {
	switch at := &v.at; {
	case b.FirstSeq != at.NextSeq:
		return v.mismatch(b).numbers(AspectSeq, at.NextSeq, b.FirstSeq)
	case b.Index <= at.LastIndex:
		return v.mismatch(b).numbers(AspectIndex, at.LastIndex+1, b.Index)
	case b.Term < at.LastTerm:
		return v.mismatch(b).numbers(AspectTerm, at.LastTerm, b.Term)
	case b.ClockMillis < at.LastClockMillis:
		return v.mismatch(b).signed(AspectClock, at.LastClockMillis, b.ClockMillis)
	case b.PrevChain != at.Chain:
		return v.mismatch(b).hashes(AspectChain, at.Chain, b.PrevChain)
	}
	for i := range b.Touched() {
		// A pointer is a position plus one; the block it leads to has at
		// least MinBlockBytes before this one begins.
		if _, p := b.TouchedAt(i); p != 0 && (p > v.at.Position || v.at.Position-(p-1) < MinBlockBytes) {
			return v.mismatch(b).numbers(AspectPointer, v.at.Position, p)
		}
	}
	v.at = Point{
		NextSeq:         b.FirstSeq + uint64(b.Count),
		Position:        v.at.Position + uint64(len(b.Raw)),
		Chain:           ChainAfter(b.PrevChain, digest),
		LastIndex:       b.Index,
		LastTerm:        b.Term,
		LastClockMillis: b.ClockMillis,
	}
	return nil
}

// mismatch begins the report about a block; nothing is allocated for good ones.
func (v *Verifier) mismatch(b *Block) *Mismatch {
	return &Mismatch{Position: v.at.Position, Index: b.Index}
}
