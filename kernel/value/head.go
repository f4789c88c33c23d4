package value

import "encoding/binary"

// Major types of CBOR (RFC 8949 section 3.1). MajorBytes is for whoever writes
// other things than values with AppendHead: no value is a byte string.
const (
	MajorUint   = 0
	MajorNegInt = 1
	MajorBytes  = 2
	MajorText   = 3
	MajorList   = 4
	MajorMap    = 5
	majorSimple = 7
)

// Additional information of an initial byte: below infoOneByte it is the
// argument itself, from there on it tells the argument's width.
const (
	infoOneByte = 24
	infoTwo     = 25
	infoFour    = 26
	infoEight   = 27
)

// Additional information under majorSimple.
const (
	simpleFalse = 20
	simpleTrue  = 21
	simpleNull  = 22
)

// head is the first byte of an item with its argument.
//
//	 7 6 5   4 3 2 1 0
//	+-------+-----------+------------------------------+
//	| major |   info    | argument, 0 1 2 4 or 8 bytes |
//	+-------+-----------+------------------------------+
type head struct {
	major byte
	info  byte
	size  uint8 // bytes, initial byte included; 0: no head could be read
	arg   uint64
}

// readHead reads the head at the beginning of b. Its size is 0 when b is too
// short or the initial byte is reserved or of indefinite length.
func readHead(b []byte) head {
	if len(b) == 0 {
		return head{}
	}
	h := head{major: b[0] >> 5, info: b[0] & 0x1f}
	switch {
	case h.info < infoOneByte:
		h.arg, h.size = uint64(h.info), 1
	case h.info == infoOneByte && len(b) >= 2:
		h.arg, h.size = uint64(b[1]), 2
	case h.info == infoTwo && len(b) >= 3:
		h.arg, h.size = uint64(binary.BigEndian.Uint16(b[1:])), 3
	case h.info == infoFour && len(b) >= 5:
		h.arg, h.size = uint64(binary.BigEndian.Uint32(b[1:])), 5
	case h.info == infoEight && len(b) >= 9:
		h.arg, h.size = binary.BigEndian.Uint64(b[1:]), 9
	}
	return h
}

// shortest tells whether an argument that is a number or a length was written
// in as few bytes as possible.
func (h head) shortest() bool {
	switch h.info {
	case infoOneByte:
		return h.arg >= infoOneByte
	case infoTwo:
		return h.arg > 0xff
	case infoFour:
		return h.arg > 0xffff
	case infoEight:
		return h.arg > 0xffff_ffff
	}
	return true
}

// AppendHead writes an item's first byte and its argument in the shortest form.
func AppendHead(dst []byte, major byte, arg uint64) []byte {
	m := major << 5
	switch {
	case arg < infoOneByte:
		return append(dst, m|byte(arg))
	case arg <= 0xff:
		return append(dst, m|infoOneByte, byte(arg))
	case arg <= 0xffff:
		return binary.BigEndian.AppendUint16(append(dst, m|infoTwo), uint16(arg))
	case arg <= 0xffff_ffff:
		return binary.BigEndian.AppendUint32(append(dst, m|infoFour), uint32(arg))
	}
	return binary.BigEndian.AppendUint64(append(dst, m|infoEight), arg)
}

// setHead replaces the one byte at dst[at], reserved before the argument was
// known, by the head for arg, moving what follows when the head is longer.
func setHead(dst []byte, at int, major byte, arg uint64) []byte {
	if arg < infoOneByte {
		dst[at] = major<<5 | byte(arg)
		return dst
	}
	var scratch [9]byte
	h := AppendHead(scratch[:0], major, arg)
	old := len(dst)
	dst = append(dst, h[1:]...)
	copy(dst[at+len(h):], dst[at+1:old])
	copy(dst[at:], h)
	return dst
}
