package event

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/omnikernel/omnikernel/kernel/bus"
)

// Format of the envelope. No promise of compatibility before the first release.
const Format = 0

// MaxBytes bounds one encoded event.
const MaxBytes = 512 << 10

// Session places a command among those of its client (CL-3): any order within
// [Floor, Floor+256), gaps allowed. The zero value is no session.
type Session struct {
	ID    [16]byte // kernel milliseconds (48 bits) and 80 random bits
	Seq   uint64   // from 1
	Floor uint64   // lowest sequence whose answer is still wanted, from 1
}

// OpenedAt is the kernel time, in Unix milliseconds, that the id was minted at.
func (s Session) OpenedAt() int64 {
	var ms int64
	for _, b := range s.ID[:6] {
		ms = ms<<8 | int64(b)
	}
	return ms
}

// Present reports whether the command belongs to a session.
func (s Session) Present() bool { return s.ID != [16]byte{} }

// decode reads a session that may be absent. An id of zeros is absent, and is
// written in that way only: one event has one encoding.
func (s *Session) decode(d *bus.Decoder) (ok bool) {
	if !d.Bool() {
		return true
	}
	d.Fixed(s.ID[:])
	s.Seq, s.Floor = d.Uint(), d.Uint()
	return s.Present()
}

// Event is one committed Raft log entry (EV-1, EV-2).
type Event struct {
	Kind           Kind
	Wall           int64  // Unix milliseconds, stamped by the proposer
	Principal      string // who asked: "client", "node:n1" …; at most 256 bytes
	Session        Session
	IdempotencyKey string // of a plain HTTP caller; at most 256 bytes
	Proposal       uint64 // the proposer's own number for it; no meaning to the kernel
	Body           []byte // canonical CBOR of the kind's struct
}

// Envelope, all integers varints unless noted:
//
//	┌────────┬──────┬──────┬───────────┬─────────┬─────────┬─────┬──────────┬──────┬────────┐
//	│ format │ kind │ wall │ principal │ session │ idemkey │ no  │ body     │ end  │ crc32c │
//	│ 1 byte │      │ zig  │ len,bytes │ 0 | 1…  │ len,…   │     │ len,bytes│      │ 4 LE   │
//	└────────┴──────┴──────┴───────────┴─────────┴─────────┴─────┴──────────┴──────┴────────┘
//
// The checksum is there because bbolt does not checksum its data pages.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append encodes the event.
func (e *Event) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, Format)
	dst = bus.AppendUint(dst, uint64(e.Kind))
	dst = bus.AppendInt(dst, e.Wall)
	dst = bus.AppendText(dst, e.Principal)
	dst = bus.AppendBool(dst, e.Session.Present())
	if e.Session.Present() {
		dst = append(dst, e.Session.ID[:]...)
		dst = bus.AppendUint(dst, e.Session.Seq)
		dst = bus.AppendUint(dst, e.Session.Floor)
	}
	dst = bus.AppendText(dst, e.IdempotencyKey)
	dst = bus.AppendUint(dst, e.Proposal)
	dst = bus.AppendText(dst, e.Body)
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// Errors of Decode. Each stops the node that meets it in its log: skipping an
// entry would diverge (EV-2).
var (
	ErrChecksum = errors.New("event: checksum does not match: the entry is damaged")
	ErrFormat   = errors.New("event: unknown envelope format: written by another version")
	ErrMalform  = errors.New("event: malformed envelope")
	ErrKind     = errors.New("event: unknown kind: written by a newer version")
)

// Decode reads an encoded event. Body aliases b.
func Decode(b []byte) (Event, error) {
	if len(b) < 5 || len(b) > MaxBytes {
		return Event{}, ErrMalform
	}
	content, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if crc32.Checksum(content, castagnoli) != sum {
		return Event{}, ErrChecksum
	}
	if content[0] != Format {
		return Event{}, ErrFormat
	}
	d := bus.NewDecoder(content[1:])
	kind := d.Uint()
	e := Event{Wall: d.Int(), Principal: d.Text()}
	session := e.Session.decode(d)
	e.IdempotencyKey, e.Proposal, e.Body = d.Text(), d.Uint(), d.Bytes()
	if !d.Done() || !session || kind > 1<<16-1 {
		return Event{}, ErrMalform
	}
	e.Kind = Kind(kind)
	if !e.Kind.Known() {
		return e, ErrKind
	}
	return e, nil
}
