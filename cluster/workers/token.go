package workers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// markBytes are what is kept of a token's mark.
const markBytes = 8

// Token is what a worker shows for its lease: agent, tick, call and fence, and a mark
// that only who knows the cluster's seed can make. So every leader knows a lease of
// this cluster, also one that another leader gave.
func (l Lease) Token(seed []byte) string {
	text := l.text()
	return text + "." + mark(text, seed)
}

func (l Lease) text() string {
	b := strconv.AppendUint(nil, uint64(l.Key.Agent), 10)
	for _, n := range [...]uint64{l.Key.Tick, uint64(l.Key.Call), l.Fence} {
		b = strconv.AppendUint(append(b, '.'), n, 10)
	}
	return string(b)
}

func mark(text string, seed []byte) string {
	h := hmac.New(sha256.New, seed)
	h.Write([]byte("lease " + text))
	return hex.EncodeToString(h.Sum(nil)[:markBytes])
}

// ReadToken reads a token; false when it is none of this cluster's.
func ReadToken(token string, seed []byte) (l Lease, ok bool) {
	parts := strings.SplitN(token, ".", 6)
	if len(parts) != 5 {
		return l, false
	}
	var numbers [4]uint64
	for i, bits := range [...]int{32, 64, 32, 64} {
		n, err := strconv.ParseUint(parts[i], 10, bits)
		if err != nil {
			return l, false
		}
		numbers[i] = n
	}
	l.Key.Agent, l.Key.Tick, l.Key.Call, l.Fence = uint32(numbers[0]), numbers[1], uint32(numbers[2]), numbers[3]
	return l, hmac.Equal([]byte(token), []byte(l.Token(seed)))
}
