package raftstream

import (
	"fmt"
	"sync"
	"time"
)

// RefusalCode answers a handshake. Numbers are part of the protocol: append
// only.
type RefusalCode byte

// The answers to a handshake.
const (
	Accepted       RefusalCode = 0
	UnknownVersion RefusalCode = 1 // the caller speaks another version
	WrongCluster   RefusalCode = 2 // another cluster's node lives at this address
	WrongKernel    RefusalCode = 3 // the node does not host that kernel, or not now
	UnknownKind    RefusalCode = 4 // the caller wants a stream this version does not have
	Malformed      RefusalCode = 5 // the bytes are no handshake
	Busy           RefusalCode = 6 // too many streams or handshakes
)

var refusalTexts = [...]string{
	Accepted:       "accepted",
	UnknownVersion: "it speaks another version of the protocol",
	WrongCluster:   "it belongs to another cluster",
	WrongKernel:    "it does not host this kernel",
	UnknownKind:    "it does not know this kind of stream",
	Malformed:      "it could not read the handshake",
	Busy:           "it has too many streams",
}

func (c RefusalCode) String() string {
	if int(c) < len(refusalTexts) {
		return refusalTexts[c]
	}
	return fmt.Sprintf("refusal code %d", byte(c))
}

// Refused is a peer's answer to a handshake. The stream was not opened and
// nothing was sent on it.
type Refused struct {
	Address string
	Code    RefusalCode
	Version byte // the peer's protocol version
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s refused the stream: %s (its version %d, ours %d)", r.Address, r.Code, r.Version, Version)
}

// refusalLogInterval keeps a node that is turned away from writing the same
// line ten times a second.
const refusalLogInterval = time.Minute

// refusalLog remembers what was told about which address.
type refusalLog struct {
	mu   sync.Mutex // guards told
	told map[string]toldRefusal
}

type toldRefusal struct {
	code RefusalCode
	at   time.Time
}

// maxToldRefusals bounds the memory for addresses that come and go.
const maxToldRefusals = 256

// news tells whether this refusal should be logged.
func (l *refusalLog) news(r *Refused, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.told[r.Address]
	if known && last.code == r.Code && now.Sub(last.at) < refusalLogInterval {
		return false
	}
	if l.told == nil || len(l.told) >= maxToldRefusals {
		l.told = make(map[string]toldRefusal)
	}
	l.told[r.Address] = toldRefusal{r.Code, now}
	return true
}

func (l *refusalLog) forget(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.told, address)
}
