package value

import (
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// text reads a JSON string, whose opening quote is next, and appends it.
func (p *jsonParser) text() *Problem {
	start := len(p.dst)
	p.dst = append(p.dst, 0)
	p.at++
	plain := p.at // first byte that was not yet appended
	for p.at < len(p.src) {
		c := p.src[p.at]
		switch {
		case c == '"':
			p.dst = append(p.dst, p.src[plain:p.at]...)
			p.at++
			if !utf8.Valid(p.dst[start+1:]) {
				return broken(ruleUTF8)
			}
			p.dst = setHead(p.dst, start, MajorText, uint64(len(p.dst)-start-1))
			return nil
		case c < 0x20:
			return p.unexpected("control characters in text to be escaped")
		case c == '\\':
			p.dst = append(p.dst, p.src[plain:p.at]...)
			if problem := p.escape(); problem != nil {
				return problem
			}
			plain = p.at
		default:
			p.at++
		}
	}
	return p.unexpected("a closing quote")
}

// escape reads one escape sequence and appends what it stands for.
func (p *jsonParser) escape() *Problem {
	p.at++
	if p.at == len(p.src) {
		return p.unexpected("an escape sequence")
	}
	c := p.src[p.at]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return p.unicodeEscape()
	default:
		return p.unexpected("an escape sequence")
	}
	p.at++
	p.dst = append(p.dst, c)
	return nil
}

// unicodeEscape reads uXXXX, or two of them that form a surrogate pair.
func (p *jsonParser) unicodeEscape() *Problem {
	r, ok := p.hex4()
	if !ok {
		return p.unexpected("four hexadecimal digits")
	}
	if utf16.IsSurrogate(r) {
		if !p.next('\\') || p.at == len(p.src) || p.src[p.at] != 'u' {
			return broken(ruleUTF8)
		}
		low, ok := p.hex4()
		if !ok {
			return p.unexpected("four hexadecimal digits")
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			return broken(ruleUTF8)
		}
	}
	p.dst = utf8.AppendRune(p.dst, r)
	return nil
}

// hex4 reads the u that is next and four digits.
func (p *jsonParser) hex4() (rune, bool) {
	p.at++
	if len(p.src)-p.at < 4 {
		return 0, false
	}
	var r rune
	for _, c := range p.src[p.at : p.at+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = (c | 0x20) - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	p.at += 4
	return r, true
}

// maxIntDigits is how many digits 2^53 has.
const maxIntDigits = 16

// number reads a JSON number. One without fraction and exponent is an integer
// and keeps every digit or is refused; any other is the nearest float64, which
// the model turns into an integer when it is integral and small enough.
func (p *jsonParser) number() *Problem {
	start := p.at
	negative := p.next('-')
	digits := p.at
	if !p.next('0') && p.digits() == 0 {
		return p.unexpected("a digit")
	}
	integer := p.src[digits:p.at]
	whole := true
	if p.next('.') {
		whole = false
		if p.digits() == 0 {
			return p.unexpected("a digit")
		}
	}
	if p.next('e') || p.next('E') {
		whole = false
		if !p.next('+') {
			p.next('-')
		}
		if p.digits() == 0 {
			return p.unexpected("a digit")
		}
	}
	if whole {
		return p.integer(integer, negative)
	}
	f, err := strconv.ParseFloat(string(p.src[start:p.at]), 64)
	if err != nil || math.IsInf(f, 0) {
		return broken(ruleFinite)
	}
	p.dst = AppendFloat(p.dst, f)
	return nil
}

func (p *jsonParser) integer(digits []byte, negative bool) *Problem {
	if len(digits) > maxIntDigits {
		return broken(ruleInteger)
	}
	var n int64
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	if n > MaxInt {
		return broken(ruleInteger)
	}
	if negative {
		n = -n
	}
	p.dst = AppendInt(p.dst, n)
	return nil
}

// digits reads digits and returns how many there were.
func (p *jsonParser) digits() int {
	start := p.at
	for p.at < len(p.src) && p.src[p.at] >= '0' && p.src[p.at] <= '9' {
		p.at++
	}
	return p.at - start
}
