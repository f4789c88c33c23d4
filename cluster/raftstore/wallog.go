package raftstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
)

// walLog is the segment library with a checksum for each entry. The library has sums
// that tell where a write was torn, and does not look at them when it reads.
//
// The checksum is behind what the entry's extensions are: CRC32C of index, term and
// type, little-endian, data and extensions.
type walLog struct{ *wal.WAL }

// walLayout is what the stable store of such a log says.
const walLayout = "wal entries with checksums"

// newWALLog checks that each entry can be read.
func newWALLog(files *wal.WAL) (*walLog, error) {
	l := &walLog{files}
	first, err := files.FirstIndex()
	if err != nil {
		return nil, err
	}
	last, err := files.LastIndex()
	if err != nil {
		return nil, err
	}
	if err := l.layOut(last); err != nil || last == 0 {
		return l, err
	}
	for index := first; index <= last; index++ {
		var entry raft.Log
		if err := l.GetLog(index, &entry); err != nil {
			return nil, fmt.Errorf("entry %d: %w", index, err)
		}
	}
	return l, nil
}

// layOut says how entries are laid out in a store that is new, and looks at what
// another one says.
func (l *walLog) layOut(last uint64) error {
	found, err := l.Get([]byte(keyLayout))
	if err != nil {
		return err
	}
	if found == nil && last == 0 {
		term, err := l.Get([]byte("CurrentTerm"))
		if err != nil {
			return err
		}
		if term == nil {
			return l.Set([]byte(keyLayout), []byte(walLayout))
		}
	}
	if string(found) != walLayout {
		return fmt.Errorf("its layout is %q, not %q: %w", found, walLayout, ErrLayout)
	}
	return nil
}

func walSum(entry *raft.Log, extensions []byte) uint32 {
	var head [17]byte
	binary.LittleEndian.PutUint64(head[:], entry.Index)
	binary.LittleEndian.PutUint64(head[8:], entry.Term)
	head[16] = byte(entry.Type)
	sum := crc32.Checksum(head[:], castagnoli)
	return crc32.Update(crc32.Update(sum, castagnoli, entry.Data), castagnoli, extensions)
}

// StoreLog stores one entry.
func (l *walLog) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs adds entries behind the last one. The caller's are left as they are.
func (l *walLog) StoreLogs(entries []*raft.Log) error {
	summed, pointers := make([]raft.Log, len(entries)), make([]*raft.Log, len(entries))
	size := 0
	for _, entry := range entries {
		size += len(entry.Extensions) + crc32.Size
	}
	extensions := make([]byte, 0, size)
	for i, entry := range entries {
		start := len(extensions)
		extensions = append(extensions, entry.Extensions...)
		extensions = binary.LittleEndian.AppendUint32(extensions, walSum(entry, entry.Extensions))
		summed[i], pointers[i] = *entry, &summed[i]
		summed[i].Extensions = extensions[start:len(extensions):len(extensions)]
	}
	return l.WAL.StoreLogs(pointers)
}

// GetLog copies one entry, or answers raft.ErrLogNotFound.
func (l *walLog) GetLog(index uint64, entry *raft.Log) error {
	if err := l.WAL.GetLog(index, entry); err != nil {
		if errors.Is(err, wal.ErrCorrupt) {
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		return err
	}
	end := len(entry.Extensions) - crc32.Size
	if end < 0 || entry.Index != index || binary.LittleEndian.Uint32(entry.Extensions[end:]) != walSum(entry, entry.Extensions[:end]) {
		return fmt.Errorf("checksum of entry %d: %w", index, ErrCorrupt)
	}
	if entry.Extensions = entry.Extensions[:end]; end == 0 {
		entry.Extensions = nil
	}
	return nil
}
