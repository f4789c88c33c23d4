package tools

import (
	"strings"
	"unicode/utf8"
)

// pathPunctuation is what may stand unencoded in a path segment beside letters
// and digits (RFC 3986, section 3.3), without `;`: some servers cut a segment
// there, and then `..;` is `..`.
const pathPunctuation = "-._~!$&'()*+,=:@"

// decodeSegment undoes percent-encoding. The second result is the rule that
// the segment breaks, or empty. What a server might take for structure after
// decoding (a slash, a dot, a percent sign) is refused where it is encoded.
func decodeSegment(segment string) (string, string) {
	switch segment {
	case "":
		return "", "must not have an empty path segment"
	case ".", "..":
		return "", "must not have . or .. as a path segment"
	}
	if !strings.Contains(segment, "%") {
		for i := 0; i < len(segment); i++ {
			if !isPathByte(segment[i]) {
				return "", unencoded
			}
		}
		return segment, ""
	}
	decoded := make([]byte, 0, len(segment))
	for i := 0; i < len(segment); i++ {
		c := segment[i]
		if c != '%' {
			if !isPathByte(c) {
				return "", unencoded
			}
			decoded = append(decoded, c)
			continue
		}
		if i+2 >= len(segment) {
			return "", "must have two hexadecimal digits after each %"
		}
		high, ok1 := hexDigit(segment[i+1])
		low, ok2 := hexDigit(segment[i+2])
		if !ok1 || !ok2 {
			return "", "must have two hexadecimal digits after each %"
		}
		c = high<<4 | low
		if c < 0x20 || c == 0x7f || c == '/' || c == '\\' || c == '.' || c == '%' {
			return "", "must not encode a slash, a backslash, a dot, a percent sign or a control character in its path"
		}
		decoded = append(decoded, c)
		i += 2
	}
	if !utf8.Valid(decoded) {
		return "", "must encode valid UTF-8 in its path"
	}
	return string(decoded), ""
}

const unencoded = "must encode with % what may not stand in a path"

func isPathByte(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte(pathPunctuation, c) >= 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
