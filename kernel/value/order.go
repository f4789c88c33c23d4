package value

import (
	"cmp"
	"slices"
	"strings"
)

// SortKeys sorts keys into the canonical order of a map's members: shorter
// first, keys of equal length bytewise. (RFC 8949 orders by encoded bytes; the
// length leads there, so this is the same order.)
func SortKeys(keys []string) { slices.SortFunc(keys, compareKeys) }

func compareKeys(a, b string) int {
	if c := cmp.Compare(len(a), len(b)); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}
