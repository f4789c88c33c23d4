package logging

import "math/bits"

// uvarint reads the shortest base-128 form of an integer of at most limit from
// the front of b. It returns the integer and the number of bytes read; 0 bytes
// when b ends early, the form is not the shortest, or the integer is above the
// limit. One integer has one form: two readers of equal bytes agree, and equal
// records have equal bytes.
func uvarint(b []byte, limit uint64) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		if uint64(b[0]) > limit {
			return 0, 0
		}
		return uint64(b[0]), 1
	}
	var x uint64
	for i, c := range b {
		if i == 9 && c > 1 {
			return 0, 0 // beyond 64 bits
		}
		x |= uint64(c&0x7f) << (7 * uint(i))
		if c >= 0x80 {
			if i == 9 {
				return 0, 0
			}
			continue
		}
		if c == 0 || x > limit {
			return 0, 0 // a zero last group is not the shortest form
		}
		return x, i + 1
	}
	return 0, 0
}

// uvarintLen is the length in bytes of the shortest form of x.
func uvarintLen(x uint64) int {
	return (bits.Len64(x|1) + 6) / 7
}
