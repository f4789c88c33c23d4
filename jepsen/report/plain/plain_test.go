package plain_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

func TestText(t *testing.T) {
	require.Equal(t, "a b c␀␛[31m\ufffd\ufffd", plain.Text("a\nb\tc\x00\x1b[31m\u202e\xff", 100))
	require.Equal(t, "abc…", plain.Text("abcd", 3))
	require.Equal(t, "abc", plain.Text("abc", 3))
	rapid.Check(t, func(t *rapid.T) {
		text := plain.Text(rapid.String().Draw(t, "text")+string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")), 20)
		require.True(t, utf8.ValidString(text))
		require.LessOrEqual(t, utf8.RuneCountInString(text), 21)
		require.Negative(t, strings.IndexFunc(text, unicode.IsControl))
	})
}

func TestNumbers(t *testing.T) {
	for n, said := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100000: "100,000"} {
		require.Equal(t, said, plain.Count(n))
	}
	require.Equal(t, "1 run", plain.Plural(1, "run", "runs"))
	require.Equal(t, "2,000 runs", plain.Plural(2000, "run", "runs"))
}

func TestTimes(t *testing.T) {
	for at, said := range map[int64]string{0: "0 s", 1_500_000: "0.002 s", 38_999_000_000: "38.999 s", 599e9: "599 s", 600e9: "10:00", 3_661e9: "1:01:01"} {
		require.Equal(t, said, plain.Clock(at))
	}
	for nanos, said := range map[int64]string{0: "0", 1: "1.00 ns", 1_234: "1.23 µs", 12_345_678: "12.3 ms", 123_456_789: "123 ms", 2_500_000_000: "2.50 s", 7_200e9: "7200 s", -5: "0"} {
		require.Equal(t, said, plain.Span(nanos))
	}
}
