package event

import "math"

// readable is a body that canonical can read. read answers false, and may leave
// anything in the body, on bytes that it does not know. When it is only checking,
// the body stays without its texts, lists and maps.
type readable interface {
	read(b []byte, checking bool) bool
}

func (d *Define) read(b []byte, checking bool) bool {
	c := newCanonical(b, checking)
	d.fields(&c)
	return c.done()
}

func (d *Define) fields(c *canonical) {
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			d.ID = c.text()
		case 2:
			d.Name = c.text()
		case 3:
			d.Evaluator = c.text()
		case 4:
			d.Mode = c.text()
		case 5:
			d.Labels = c.pairs()
		case 6:
			d.Env = c.pairs()
		case 7:
			d.Grants = c.grants()
		case 8:
			d.Program = c.bytes()
		case 9:
			d.Teardown = c.bytes()
		case 10:
			d.MaxDepth = c.uint32()
		case 11:
			d.TTLMillis = c.int64()
		case 12:
			fields := c.fields
			c.begin()
			d.Budget = new(Budget)
			d.Budget.fields(c)
			c.fields, c.last = fields, key
		case 13:
			d.Input = c.bytes()
		default:
			c.stop()
		}
	}
}

func (b *Budget) fields(c *canonical) {
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			b.Tokens = c.uint(math.MaxUint64)
		case 2:
			b.USDMicros = c.uint(math.MaxUint64)
		case 3:
			b.WallMillis = c.int64()
		case 4:
			b.WarnPercent = c.uint32()
		default:
			c.stop()
		}
	}
}

func (s *Start) read(b []byte, checking bool) bool {
	c := newCanonical(b, checking)
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			fields := c.fields
			c.begin()
			s.Define.fields(&c)
			c.fields, c.last = fields, key
		case 2:
			s.Input = c.bytes()
		case 3:
			s.Reason = c.text()
		default:
			c.stop()
		}
	}
	return c.done()
}

func (t *Trigger) read(b []byte, checking bool) bool {
	c := newCanonical(b, checking)
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			t.Agent = c.text()
		case 2:
			t.Trigger = c.text()
		case 3:
			t.Reason = c.text()
		case 4:
			t.Input = c.bytes()
		case 5:
			t.Force = c.bool()
		default:
			c.stop()
		}
	}
	return c.done()
}

func (s *Submit) read(b []byte, checking bool) bool {
	c := newCanonical(b, checking)
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			s.Agent = c.text()
		case 2:
			s.Program = c.bytes()
		case 3:
			s.Input = c.bytes()
		default:
			c.stop()
		}
	}
	return c.done()
}

func (r *Result) read(b []byte, checking bool) bool {
	c := newCanonical(b, checking)
	for key, ok := c.next(); ok; key, ok = c.next() {
		switch key {
		case 1:
			r.Agent = c.uint32()
		case 2:
			r.Tick = c.uint(1<<64 - 1)
		case 3:
			r.Call = c.uint32()
		case 4:
			r.OK = c.bool()
		case 5:
			r.Value = c.bytes()
		case 6:
			r.Code = c.text()
		case 7:
			r.Message = c.text()
		case 8:
			r.Millis = c.int64()
		case 9:
			r.Metered = c.bool()
		case 10:
			r.Tokens = c.uint(math.MaxUint64)
		case 11:
			r.USDMicros = c.uint(math.MaxUint64)
		default:
			c.stop()
		}
	}
	return c.done()
}
