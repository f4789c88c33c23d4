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

	// Over TLS only: the certificate does not prove what the hello says.
	CertificateCluster RefusalCode = 7  // it is of another cluster
	CertificateNode    RefusalCode = 8  // it is another node's
	CertificateKind    RefusalCode = 9  // it is a principal's
	BadCertificate     RefusalCode = 10 // it names nobody

	// Of lineages that differ.
	Outlived    RefusalCode = 11 // the cluster was recovered without the caller
	Unrecovered RefusalCode = 12 // … without the node that was called
	Parted      RefusalCode = 13 // … twice, each time without the other
)

var refusalTexts = [...]string{
	Accepted:       "accepted",
	UnknownVersion: "it speaks another version of the protocol",
	WrongCluster:   "it belongs to another cluster",
	WrongKernel:    "it does not host this kernel",
	UnknownKind:    "it does not know this kind of stream",
	Malformed:      "it could not read the handshake",
	Busy:           "it has too many streams",

	CertificateCluster: "our certificate is of another cluster",
	CertificateNode:    "our certificate is another node's",
	CertificateKind:    "our certificate is not a node's",
	BadCertificate:     "our certificate names no node",

	Outlived:    "the cluster was recovered without this node",
	Unrecovered: "it has what the cluster had before it was recovered",
	Parted:      "it and this node were each recovered without the other",
}

func (c RefusalCode) String() string {
	if int(c) < len(refusalTexts) {
		return refusalTexts[c]
	}
	return fmt.Sprintf("refusal code %d", byte(c))
}

// hint says what to do about a refusal.
func (c RefusalCode) hint() string {
	switch c {
	case WrongCluster, WrongKernel:
		return "compare --cluster, --kernel and --peer of both nodes"
	case CertificateCluster, CertificateNode, CertificateKind, BadCertificate:
		return "this node's --tls-cert must say that it is this node: omni tls inspect FILE; omni tls issue node ID makes one"
	case Outlived:
		return "stop this node, move its data directory away, and join with an empty one: omni cluster join"
	case Unrecovered:
		return "stop the node over there, move its data directory away, and have it join with an empty one: omni cluster join"
	case Parted:
		return "there are two clusters: keep one of them, and join it from the nodes of the other with empty directories"
	case UnknownVersion, UnknownKind:
		return "one of the two programs is too old to talk to the other"
	}
	return "the log over there says more"
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
	reason string
	at     time.Time
}

// maxToldRefusals bounds the memory for addresses that come and go.
const maxToldRefusals = 256

// news tells whether this refusal should be logged.
func (l *refusalLog) news(r *Refused, now time.Time) bool {
	return l.fresh(r.Address, r.Code.String(), now)
}

// fresh tells whether something else was told of this address, or this long ago.
func (l *refusalLog) fresh(address, reason string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, known := l.told[address]
	if known && last.reason == reason && now.Sub(last.at) < refusalLogInterval {
		return false
	}
	if l.told == nil || len(l.told) >= maxToldRefusals {
		l.told = make(map[string]toldRefusal)
	}
	l.told[address] = toldRefusal{reason, now}
	return true
}

func (l *refusalLog) forget(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.told, address)
}
