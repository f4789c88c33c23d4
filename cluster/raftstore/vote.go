package raftstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"
)

// The keys under which the library writes a vote, in this order, and the one
// under which this store keeps it.
const (
	keyVoteTerm      = "LastVoteTerm"
	keyVoteCandidate = "LastVoteCand"
	keyVote          = "Vote"
)

// pendingVote is the first half of a vote that the library is about to finish.
type pendingVote struct {
	mu   sync.Mutex // guards term and held
	term uint64
	held bool
}

// A vote is (term, candidate). The library stores it with two calls: the term,
// then the candidate. A crash between two durable writes would leave the new
// term beside the candidate of an older vote, and after the restart that old
// candidate would be granted the new term as a "duplicate", without the check
// that its log is up to date: a committed entry could be lost.
//
// So the term is held in memory until the candidate comes, and both are
// written as one record in one transaction. Whenever the process dies:
//
//   - before the transaction is durable, the older vote is intact, whole. The
//     new vote was told to nobody: the library answers a candidate, and counts
//     its own vote, only after the second call has returned;
//   - afterwards the new vote is there, whole.
//
// The current term is a write of its own, before these two. It is never behind
// the vote: a node that crashed between them has a term without a vote in it,
// which is an ordinary state.
//
// Reads see what is durable, never the half that is held.

func (s *Store) holdVoteTerm(term uint64) error {
	if err := s.writable(); err != nil {
		return err
	}
	s.vote.mu.Lock()
	defer s.vote.mu.Unlock()
	s.vote.term, s.vote.held = term, true
	return nil
}

func (s *Store) storeVote(candidate []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	s.vote.mu.Lock()
	term, held := s.vote.term, s.vote.held
	s.vote.held = false
	s.vote.mu.Unlock()
	if !held {
		// A library that changed the order would bring the torn vote back.
		return s.fail("store vote", errors.New("a candidate without a term"))
	}
	return s.write(keyVote, encodeVote(term, candidate))
}

func (s *Store) loadVote() (term uint64, candidate []byte, err error) {
	record, err := s.read(keyVote)
	if err != nil {
		return 0, nil, err
	}
	if term, candidate, err = decodeVote(record); err != nil {
		return 0, nil, s.fail("read vote", err)
	}
	return term, candidate, nil
}

// A vote's record, numbers big-endian:
//
//	term u64, candidate, two zero bytes, CRC32C of term and candidate
//
// Binaries of kernel version 1 write and know a term and a candidate only, which never
// has a zero byte. Such a record is read as it is. To such a binary the end of this one is
// part of the candidate: it is nobody's name, so that it grants the term to nobody again.
var voteMark = []byte{0, 0}

const voteEnd = 2 + crc32.Size

func encodeVote(term uint64, candidate []byte) []byte {
	record := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(candidate)+voteEnd), term)
	record = append(record, candidate...)
	sum := crc32.Checksum(record, castagnoli)
	return binary.BigEndian.AppendUint32(append(record, voteMark...), sum)
}

func decodeVote(record []byte) (term uint64, candidate []byte, err error) {
	if len(record) <= 8 {
		return 0, nil, fmt.Errorf("%d bytes: %w", len(record), ErrCorrupt)
	}
	end := len(record) - voteEnd
	if end > 8 && bytes.Equal(record[end:end+len(voteMark)], voteMark) {
		if crc32.Checksum(record[:end], castagnoli) != binary.BigEndian.Uint32(record[end+len(voteMark):]) {
			return 0, nil, fmt.Errorf("its checksum: %w", ErrCorrupt)
		}
		record = record[:end]
	}
	if bytes.IndexByte(record[8:], 0) >= 0 {
		return 0, nil, fmt.Errorf("a candidate %q: %w", record[8:], ErrCorrupt)
	}
	return binary.BigEndian.Uint64(record), record[8:], nil
}
