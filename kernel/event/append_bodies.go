package event

import "github.com/omnikernel/omnikernel/kernel/value"

// appendBody writes the bodies that there are most of without reflection, the
// same bytes that it gives; ok is false for any other.
func appendBody(dst []byte, body any) (_ []byte, ok bool) {
	switch b := body.(type) {
	case *Define:
		return appendDefine(dst, b), true
	case Define:
		return appendDefine(dst, &b), true
	case *Start:
		return appendStart(dst, b), true
	case Start:
		return appendStart(dst, &b), true
	case Result:
		return appendResult(dst, &b), true
	}
	return dst, false
}

// fields writes the members of a map in order, leaving out what is empty, and
// counts them.
type fields struct {
	dst []byte
	n   byte
}

func begin(dst []byte) *fields { return &fields{dst: append(dst, 0)} }

// end writes the map's head over the byte that begin left for it: no body has
// more than 23 members.
func (f *fields) end(at int) []byte {
	f.dst[at] = value.MajorMap<<5 | f.n
	return f.dst
}

func (f *fields) key(k byte) {
	f.dst = append(f.dst, k)
	f.n++
}

func (f *fields) text(k byte, s string) {
	if s != "" {
		f.key(k)
		f.dst = appendText(f.dst, s)
	}
}

func (f *fields) raw(k byte, v value.Raw) {
	if len(v) > 0 {
		f.key(k)
		f.dst = append(value.AppendHead(f.dst, value.MajorBytes, uint64(len(v))), v...)
	}
}

func (f *fields) pairs(k byte, m map[string]string) {
	if len(m) > 0 {
		f.key(k)
		f.dst = AppendPairs(f.dst, m)
	}
}

// uint is never left out.
func (f *fields) uint(k byte, n uint64) {
	f.key(k)
	f.dst = value.AppendHead(f.dst, value.MajorUint, n)
}

// positive leaves 0 out.
func (f *fields) positive(k byte, n uint64) {
	if n > 0 {
		f.uint(k, n)
	}
}

func (f *fields) int(k byte, n int64) {
	switch {
	case n > 0:
		f.uint(k, uint64(n))
	case n < 0:
		f.key(k)
		f.dst = value.AppendHead(f.dst, value.MajorNegInt, uint64(-(n + 1)))
	}
}

func appendDefine(dst []byte, d *Define) []byte {
	at := len(dst)
	f := begin(dst)
	f.text(1, d.ID)
	f.text(2, d.Name)
	f.text(3, d.Evaluator)
	f.text(4, d.Mode)
	f.pairs(5, d.Labels)
	f.pairs(6, d.Env)
	if len(d.Grants) > 0 {
		f.key(7)
		f.dst = AppendGrants(f.dst, d.Grants)
	}
	f.raw(8, d.Program)
	f.raw(9, d.Teardown)
	f.int(10, int64(d.MaxDepth))
	f.int(11, d.TTLMillis)
	if d.Budget != nil {
		f.key(12)
		f.dst = appendBudget(f.dst, d.Budget)
	}
	f.raw(13, d.Input)
	return f.end(at)
}

func appendBudget(dst []byte, b *Budget) []byte {
	at := len(dst)
	f := begin(dst)
	f.positive(1, b.Tokens)
	f.positive(2, b.USDMicros)
	f.int(3, b.WallMillis)
	f.positive(4, uint64(b.WarnPercent))
	return f.end(at)
}

func appendStart(dst []byte, s *Start) []byte {
	at := len(dst)
	f := begin(dst)
	f.key(1)
	f.dst = appendDefine(f.dst, &s.Define)
	f.raw(2, s.Input)
	f.text(3, s.Reason)
	return f.end(at)
}

func appendResult(dst []byte, r *Result) []byte {
	at := len(dst)
	f := begin(dst)
	f.uint(1, uint64(r.Agent))
	f.uint(2, r.Tick)
	f.uint(3, uint64(r.Call))
	if r.OK {
		f.key(4)
		f.dst = append(f.dst, 7<<5|21)
	}
	f.raw(5, r.Value)
	f.text(6, r.Code)
	f.text(7, r.Message)
	f.int(8, r.Millis)
	if r.Metered {
		f.key(9)
		f.dst = append(f.dst, 7<<5|21)
	}
	f.positive(10, r.Tokens)
	f.positive(11, r.USDMicros)
	return f.end(at)
}
