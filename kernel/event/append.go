package event

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/permissions"
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
	dst = appendHead(dst, majorMap, uint64(len(keys)))
	for _, k := range keys {
		dst = appendText(appendText(dst, k), pairs[k])
	}
	return dst
}

// AppendGrants appends what Encode gives for a list of grants, without
// reflection.
func AppendGrants(dst []byte, grants []permissions.Grant) []byte {
	dst = appendHead(dst, majorList, uint64(len(grants)))
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
	dst = appendHead(dst, majorMap, fields)
	dst = appendHead(append(dst, 1), majorUint, uint64(g.Effect))
	dst = appendText(append(dst, 2), g.Action)
	dst = appendText(append(dst, 3), g.Resource)
	switch {
	case g.NotAfterMillis > 0:
		dst = appendHead(append(dst, 4), majorUint, uint64(g.NotAfterMillis))
	case g.NotAfterMillis < 0:
		dst = appendHead(append(dst, 4), majorInt, uint64(-(g.NotAfterMillis + 1)))
	}
	return dst
}

func appendText(dst []byte, s string) []byte {
	return append(appendHead(dst, majorText, uint64(len(s))), s...)
}

// appendHead writes an item's first byte and its argument in the shortest form.
func appendHead(dst []byte, major byte, n uint64) []byte {
	first := major << 5
	switch {
	case n < 24:
		return append(dst, first|byte(n))
	case n < 1<<8:
		return append(dst, first|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, first|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(dst, first|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(dst, first|27), n)
}
