package raftstore

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
	"go.etcd.io/bbolt"
)

// keyTerm is what the library keeps the term under.
const keyTerm = "CurrentTerm"

// CheckTerm refuses a store whose term cannot be: a node's term is durable before it votes
// in it, stores an entry of it, or takes a snapshot with one, whose term is the
// argument. The term has no checksum, since the library stores a bare number that older
// binaries read, too. It needs none: what a node must not forget of a term is its vote,
// which has one, and its entries, which have one. A term that is damaged and passes here
// is higher than it was, which every term may become, or one in which the node has done
// nothing.
func (s *Store) CheckTerm(snapshot uint64) error {
	stable := s.Stable()
	term, err := found(stable.GetUint64([]byte(keyTerm)))
	if err != nil {
		return err
	}
	voted, err := found(stable.GetUint64([]byte(keyVoteTerm)))
	if err != nil {
		return err
	}
	last, err := s.lastTerm()
	if err != nil {
		return err
	}
	for _, than := range []struct {
		what string
		term uint64
	}{{"it has voted in", voted}, {"its last entry is of", last}, {"its last snapshot is of", snapshot}} {
		if term < than.term {
			return fmt.Errorf("raft store %s: the term is %d, and %s term %d: %w", s.path, term, than.what, than.term, ErrCorrupt)
		}
	}
	return nil
}

// found takes what was never written for 0.
func found(value uint64, err error) (uint64, error) {
	if errors.Is(err, errNotFound) {
		return 0, nil
	}
	return value, err
}

// lastTerm is the term of the last entry; 0 when there is none.
func (s *Store) lastTerm() (uint64, error) {
	last, err := s.Logs().LastIndex()
	if err != nil || last == 0 {
		return 0, err
	}
	var entry raft.Log
	err = s.Logs().GetLog(last, &entry)
	return entry.Term, err
}

// checkKeys refuses a value under a name that is a term's or a vote's but for one byte:
// the node would not find it again, and would take it for none.
func checkKeys(values *bbolt.Bucket) error {
	return values.ForEach(func(key, _ []byte) error {
		for _, name := range []string{keyTerm, keyVote} {
			if differing(key, name) == 1 {
				return fmt.Errorf("a value %q, which was %q: %w", key, name, ErrCorrupt)
			}
		}
		return nil
	})
}

// differing is how many bytes of a key are not the name's.
func differing(key []byte, name string) (count int) {
	if len(key) != len(name) {
		return len(name)
	}
	for i := range key {
		if key[i] != name[i] {
			count++
		}
	}
	return count
}
