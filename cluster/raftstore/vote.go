package raftstore

import (
	"encoding/binary"
	"errors"
	"fmt"
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
	record := binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(candidate)), term)
	return s.write(keyVote, append(record, candidate...))
}

func (s *Store) loadVote() (term uint64, candidate []byte, err error) {
	record, err := s.read(keyVote)
	if err != nil {
		return 0, nil, err
	}
	if len(record) <= 8 {
		return 0, nil, s.fail("read vote", fmt.Errorf("%d bytes: %w", len(record), ErrCorrupt))
	}
	return binary.BigEndian.Uint64(record), record[8:], nil
}
