package plain

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Text makes a text one that can be shown: no control characters, none that turn
// the direction of writing, at most so many characters.
func Text(s string, most int) string {
	var out strings.Builder
	left := most
	for _, r := range s {
		if left--; left < 0 {
			return out.String() + "…"
		}
		switch {
		case r == '\n' || r == '\t':
			out.WriteByte(' ')
		case r < 0x20:
			out.WriteRune('\u2400' + r)
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Noncharacter_Code_Point, r):
			out.WriteRune(unicode.ReplacementChar)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Clock is a time of the run: seconds, and minutes from 10 minutes on.
func Clock(at int64) string {
	if at >= int64(10*time.Minute) {
		return Minutes(at)
	}
	return strconv.FormatFloat(math.Round(float64(at)/1e6)/1000, 'f', -1, 64) + " s"
}

// Minutes is a time of a long run: minutes and whole seconds, and hours if there
// are any.
func Minutes(at int64) string {
	whole := at / 1e9
	text := fmt.Sprintf("%d:%02d", whole/60, whole%60)
	if whole >= 3600 {
		text = fmt.Sprintf("%d:%02d:%02d", whole/3600, whole/60%60, whole%60)
	}
	return text
}

// Span is a duration with three digits.
func Span(nanos int64) string {
	units := []struct {
		name string
		in   float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}, {"ns", 1}}
	for _, u := range units {
		if n := float64(nanos) / u.in; n >= 1 {
			digits := max(0, 2-int(math.Log10(n)))
			return strconv.FormatFloat(n, 'f', digits, 64) + " " + u.name
		}
	}
	return "0"
}

// Count is a number with its thousands apart.
func Count[N int | int64 | uint64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return sign + text
}

// Plural is a number and its noun.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + many
}
