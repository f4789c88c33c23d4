package bus

import "encoding/binary"

// The append functions below are the whole of the record bodies' wire format:
// unsigned and zigzag varints, fixed bytes, and length-prefixed strings.

// AppendUint writes n as an unsigned varint.
func AppendUint(dst []byte, n uint64) []byte { return binary.AppendUvarint(dst, n) }

// AppendInt writes n as a zigzag varint.
func AppendInt(dst []byte, n int64) []byte { return binary.AppendVarint(dst, n) }

// AppendText writes a length and the bytes of s.
func AppendText[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// AppendBool writes one byte, 0 or 1.
func AppendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Decoder reads what the append functions wrote. The first malformed field
// makes it Bad, and every later read gives zero values: check once, at the end.
type Decoder struct {
	rest []byte
	bad  bool
}

// NewDecoder reads from b; what Bytes returns aliases it.
func NewDecoder(b []byte) *Decoder { return &Decoder{rest: b} }

// Done reports whether everything was well-formed and nothing is left over.
func (d *Decoder) Done() bool { return !d.bad && len(d.rest) == 0 }

// Uint reads an unsigned varint in its shortest form.
func (d *Decoder) Uint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || (size > 1 && d.rest[size-1] == 0) {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// Uint32 reads an unsigned varint that fits 32 bits.
func (d *Decoder) Uint32() uint32 {
	n := d.Uint()
	if n > 1<<32-1 {
		d.fail()
		return 0
	}
	return uint32(n)
}

// Int reads a zigzag varint.
func (d *Decoder) Int() int64 {
	n := d.Uint()
	return int64(n>>1) ^ -int64(n&1)
}

// Bool reads one byte that must be 0 or 1.
func (d *Decoder) Bool() bool {
	b := d.Byte()
	if b > 1 {
		d.fail()
	}
	return b == 1
}

// Byte reads one byte.
func (d *Decoder) Byte() byte {
	if len(d.rest) == 0 {
		d.fail()
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// Bytes reads a length and that many bytes; nil for none. The result aliases
// the input.
func (d *Decoder) Bytes() []byte {
	n := d.Uint()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	if n == 0 {
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

// Text reads what AppendText wrote, as a string.
func (d *Decoder) Text() string { return string(d.Bytes()) }

// Fixed fills dst from the input.
func (d *Decoder) Fixed(dst []byte) {
	if len(d.rest) < len(dst) {
		d.fail()
		return
	}
	copy(dst, d.rest)
	d.rest = d.rest[len(dst):]
}

// Left is the number of bytes not read yet: a bound for any count that was
// read, before memory is taken for it.
func (d *Decoder) Left() uint64 { return uint64(len(d.rest)) }

func (d *Decoder) fail() {
	d.bad = true
	d.rest = nil
}
