package event

import (
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// AppendPairs appends what Encode gives for labels or an environment, without
// reflection.
func AppendPairs(dst []byte, pairs map[string]string) []byte {
	var room [8]string
	keys := room[:0]
	//lint:ordered the keys are sorted next
	for k := range pairs {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b) // the canonical order: see canonicallyBefore
		}
		return strings.Compare(a, b)
	})
	dst = value.AppendHead(dst, value.MajorMap, uint64(len(keys)))
	for _, k := range keys {
		dst = appendText(appendText(dst, k), pairs[k])
	}
	return dst
}

// AppendGrants appends what Encode gives for a list of grants, without
// reflection.
func AppendGrants(dst []byte, grants []permissions.Grant) []byte {
	dst = value.AppendHead(dst, value.MajorList, uint64(len(grants)))
	for i := range grants {
		dst = appendGrant(dst, &grants[i])
	}
	return dst
}

func appendGrant(dst []byte, g *permissions.Grant) []byte {
	fields := uint64(3)
	if g.NotAfterMillis != 0 {
		fields++
	}
	dst = value.AppendHead(dst, value.MajorMap, fields)
	dst = value.AppendHead(append(dst, 1), value.MajorUint, uint64(g.Effect))
	dst = appendText(append(dst, 2), g.Action)
	dst = appendText(append(dst, 3), g.Resource)
	switch {
	case g.NotAfterMillis > 0:
		dst = value.AppendHead(append(dst, 4), value.MajorUint, uint64(g.NotAfterMillis))
	case g.NotAfterMillis < 0:
		dst = value.AppendHead(append(dst, 4), value.MajorNegInt, uint64(-(g.NotAfterMillis + 1)))
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(value.AppendHead(dst, value.MajorText, uint64(len(s))), s...)
}
