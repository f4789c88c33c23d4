package model

import (
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/fnv"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Stream is the name of the workload whose operations these are: watchers of the
// log, cut off and gone on elsewhere. Each operation is one connection; what came
// over it are the history's Seen.
const Stream = "stream"

// The operations of Stream. The key is the stream.
const (
	Watch = "watch" // one connection
	Reach = "reach" // in the end: go on until a record was seen
)

// WatchIn is what a connection asks for.
type WatchIn struct {
	Node       string   `json:"node"`
	Connection int      `json:"connection"` // of the stream, from 1
	From       uint64   `json:"from"`       // first busSeq wanted; 0 is the next one to come
	Kinds      []string `json:"kinds,omitempty"`
	Client     bool     `json:"client,omitempty"` // by transport/client, which goes on by itself; else the bare stream
	Target     uint64   `json:"target,omitempty"` // of Reach: the record
}

// WatchOut is how a connection ended.
type WatchOut struct {
	Last  uint64 `json:"last"`            // busSeq of the last record that the stream has seen
	First uint64 `json:"first,omitempty"` // with COMPACTED: where the log that can be watched begins
}

// RecordSum is a sum of all that records say, one after the other.
type RecordSum struct {
	hash hash.Hash64
	b    []byte
}

// Add takes a record in.
func (s *RecordSum) Add(r *api.Record) {
	if s.hash == nil {
		s.hash = fnv.New64a()
	}
	s.b = s.b[:0]
	for _, n := range [...]uint64{r.BusSeq, r.Index, r.Term, uint64(r.AtMillis), r.Tick, uint64(r.Step), r.Cause} {
		s.b = binary.BigEndian.AppendUint64(s.b, n)
	}
	for _, text := range [...]string{r.Kind, r.AgentID, r.SpanID, r.ParentSpan, string(r.Body)} {
		s.b = append(binary.BigEndian.AppendUint32(s.b, uint32(len(text))), text...)
	}
	_, _ = s.hash.Write(s.b) // a hash takes everything
}

// String is the sum so far, in hex.
func (s *RecordSum) String() string {
	if s.hash == nil {
		return ""
	}
	return hex.EncodeToString(s.hash.Sum(nil))
}
