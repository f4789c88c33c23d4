package raftstore

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// An entry as it lies in a chunk:
//
//	term uvarint, kind byte, time varint (Unix nanoseconds, 0 for none),
//	length of the data uvarint, length of the extensions uvarint,
//	data, extensions
//
// Its index is not among the bytes: entries follow one another, and the chunk
// has the first one's.

// entryHead is the most bytes that an entry takes beside its data and
// extensions.
const entryHead = 1 + 4*binary.MaxVarintLen64

// appendEntry adds an entry to b.
func appendEntry(b []byte, entry *raft.Log) []byte {
	b = binary.AppendUvarint(b, entry.Term)
	b = append(b, byte(entry.Type))
	var at int64
	if !entry.AppendedAt.IsZero() {
		at = entry.AppendedAt.UnixNano()
	}
	b = binary.AppendVarint(b, at)
	b = binary.AppendUvarint(b, uint64(len(entry.Data)))
	b = binary.AppendUvarint(b, uint64(len(entry.Extensions)))
	b = append(b, entry.Data...)
	return append(b, entry.Extensions...)
}

// errTorn: the bytes end inside an entry.
var errTorn = fmt.Errorf("an entry that ends in its middle: %w", ErrCorrupt)

// entryReader reads entries one after the other.
type entryReader struct{ rest []byte }

// next reads one entry but for its index. Data and extensions are parts of the
// reader's bytes, nil when they are empty. After errTorn the reader stands
// where it stood.
func (r *entryReader) next(into *raft.Log) error {
	term, n := binary.Uvarint(r.rest)
	if n <= 0 || len(r.rest) == n {
		return errTorn
	}
	kind, b := raft.LogType(r.rest[n]), r.rest[n+1:]
	at, n := binary.Varint(b)
	if n <= 0 {
		return errTorn
	}
	b = b[n:]
	data, n := binary.Uvarint(b)
	if n <= 0 {
		return errTorn
	}
	b = b[n:]
	extensions, n := binary.Uvarint(b)
	if n <= 0 {
		return errTorn
	}
	b = b[n:]
	if data > uint64(len(b)) || extensions > uint64(len(b))-data {
		return errTorn
	}
	*into = raft.Log{Term: term, Type: kind}
	if at != 0 {
		into.AppendedAt = time.Unix(0, at)
	}
	if data > 0 {
		into.Data = b[:data:data]
	}
	if extensions > 0 {
		into.Extensions = b[data : data+extensions : data+extensions]
	}
	r.rest = b[data+extensions:]
	return nil
}
