package raftstore

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
)

// errNotFound is compared by its text inside the library: it must be exactly
// this.
var errNotFound = errors.New("not found")

// stable is the raft.StableStore. Numbers are eight bytes, big-endian, for
// both kinds. The two halves of a vote go through vote.go.
type stable struct{ *Store }

var _ raft.StableStore = stable{}

func (s stable) Set(key, value []byte) error {
	if string(key) == keyVoteCandidate {
		return s.storeVote(value)
	}
	return s.write(string(key), value)
}

func (s stable) SetUint64(key []byte, value uint64) error {
	if string(key) == keyVoteTerm {
		return s.holdVoteTerm(value)
	}
	return s.write(string(key), binary.BigEndian.AppendUint64(nil, value))
}

func (s stable) Get(key []byte) ([]byte, error) {
	if string(key) == keyVoteCandidate {
		_, candidate, err := s.loadVote()
		return candidate, err
	}
	return s.read(string(key))
}

func (s stable) GetUint64(key []byte) (uint64, error) {
	if string(key) == keyVoteTerm {
		term, _, err := s.loadVote()
		return term, err
	}
	value, err := s.read(string(key))
	if err != nil {
		return 0, err
	}
	if len(value) != 8 {
		return 0, s.fail("read "+string(key), fmt.Errorf("%d bytes, want 8: %w", len(value), ErrCorrupt))
	}
	return binary.BigEndian.Uint64(value), nil
}

// write is one transaction.
func (s *Store) write(key string, value []byte) error {
	if err := s.writable(); err != nil {
		return err
	}
	timer := s.guard("store " + key)
	err := s.backend.Set([]byte(key), value)
	timer.Stop()
	if err != nil {
		return s.fail("store "+key, err)
	}
	return nil
}

// read answers errNotFound for a key that was never written; one library says
// so with an error, the other with nil.
func (s *Store) read(key string) ([]byte, error) {
	if err := s.readable(); err != nil {
		return nil, err
	}
	value, err := s.backend.Get([]byte(key))
	if (err == nil && value == nil) || (err != nil && err.Error() == errNotFound.Error()) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, s.fail("read "+key, err)
	}
	return value, nil
}
