package value

import (
	"encoding/binary"
	"math"
)

// AppendFloat appends a number. An integral one at most MaxInt away from zero
// is appended as the integer it is, -0 as 0. NaN and the infinities are no
// values: it panics on them.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic("value: number is not finite")
	}
	if n, ok := integral(f); ok {
		return AppendInt(dst, n)
	}
	if half, ok := toHalf(f); ok {
		return binary.BigEndian.AppendUint16(append(dst, majorSimple<<5|infoTwo), half)
	}
	if single := float32(f); float64(single) == f {
		return binary.BigEndian.AppendUint32(append(dst, majorSimple<<5|infoFour), math.Float32bits(single))
	}
	return binary.BigEndian.AppendUint64(append(dst, majorSimple<<5|infoEight), math.Float64bits(f))
}

// integral returns f as an integer when the model says that it is one.
func integral(f float64) (int64, bool) {
	if f > float64(MaxInt) || f < -float64(MaxInt) || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// toHalf returns the 16-bit float that equals f, if there is one.
func toHalf(f float64) (uint16, bool) {
	single := float32(f)
	if float64(single) != f {
		return 0, false
	}
	bits := math.Float32bits(single)
	sign := uint16(bits >> 16 & 0x8000)
	exponent := int32(bits>>23&0xff) - 127
	mantissa := bits & 0x7f_ffff
	switch {
	case exponent >= -14 && exponent <= 15 && mantissa&0x1fff == 0:
		return sign | uint16(exponent+15)<<10 | uint16(mantissa>>13), true
	case exponent >= -24 && exponent < -14:
		// A subnormal counts in units of 2^-24, so the shift must lose no bit.
		full := mantissa | 0x80_0000
		shift := uint32(-exponent - 1)
		if full&(1<<shift-1) == 0 {
			return sign | uint16(full>>shift), true
		}
	}
	return 0, false
}

// fromHalf widens a 16-bit float, the infinities and NaN included.
func fromHalf(half uint16) float64 {
	exponent := int(half >> 10 & 0x1f)
	mantissa := uint64(half & 0x3ff)
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(float64(mantissa), -24)
	case 0x1f:
		f = math.Inf(1)
		if mantissa != 0 {
			return math.NaN()
		}
	default:
		f = math.Ldexp(float64(mantissa|0x400), exponent-25)
	}
	if half&0x8000 != 0 {
		return -f
	}
	return f
}

// float returns the number behind a head of major type 7 and whether it is one.
func (h head) float() (float64, bool) {
	switch h.info {
	case infoTwo:
		return fromHalf(uint16(h.arg)), true
	case infoFour:
		return float64(math.Float32frombits(uint32(h.arg))), true
	case infoEight:
		return math.Float64frombits(h.arg), true
	}
	return 0, false
}
