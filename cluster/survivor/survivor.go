package survivor

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/fsm/segment"
)

// Plan says which node is left, and where it will be.
type Plan struct {
	Dir    string
	Kernel string
	Store  raftstore.Kind
	Raft   string // the node's Raft address from now on; as before when empty
}

// Member is one of the members before.
type Member struct {
	ID    string `json:"id"`
	Raft  string `json:"raft"`
	Voter bool   `json:"voter"`
}

// Finding is what the node that is left has.
type Finding struct {
	Cluster  string   `json:"cluster_id"`
	Node     string   `json:"node_id"`
	Raft     string   `json:"raft"`                  // its address from now on
	Term     uint64   `json:"term"`                  // that it has seen
	Last     uint64   `json:"last_index"`            // of the last entry that it has
	LastTerm uint64   `json:"last_term"`             // of that: of several survivors, the one with the highest term and then index has most
	Applied  uint64   `json:"committed"`             // so far, at least, was committed: the execution log has it
	Voter    bool     `json:"voter"`                 // it voted itself
	Lacking  uint64   `json:"history_missing_bytes"` // of its execution log that it does not have, at least
	Members  []Member `json:"members"`               // before
	Token    string   `json:"token"`                 // confirms exactly this

	Index uint64 `json:"index,omitempty"` // of the configuration that was written; 0: nothing was
	Copy  string `json:"copy,omitempty"`  // where the Raft store is as it was
}

// Errors of a plan that cannot be carried out.
var (
	ErrNothing = errors.New("there is no node's data")
	ErrAlone   = errors.New("the node is the only voter already: start it")
	ErrToken   = errors.New("the confirmation is not the token of what was found")
)

// Look says what the node has, and changes nothing.
func Look(p Plan) (Finding, error) {
	f, close, _, err := look(p)
	if err != nil {
		return Finding{}, err
	}
	return f, close()
}

type stores struct {
	store    *raftstore.Store
	standing consensus.Standing
}

func look(p Plan) (f Finding, done func() error, s stores, err error) {
	cluster, node, owned, err := datadir.Owner(p.Dir)
	if err != nil {
		return f, nil, s, err
	}
	raftDir := datadir.RaftDir(p.Dir, p.Kernel)
	missing, err := raftstore.Missing(p.Store, raftDir)
	if err != nil {
		return f, nil, s, err
	}
	if !owned || missing != "" {
		return f, nil, s, fmt.Errorf("%w of kernel %s in %s", ErrNothing, p.Kernel, p.Dir)
	}
	if err := datadir.Claim(p.Dir, cluster, node); err != nil { // it may be condemned
		return f, nil, s, err
	}
	var failed error
	s.store, err = raftstore.Open(raftstore.Options{Kind: p.Store, Dir: raftDir, Fatal: func(err error) { failed = err }})
	if err != nil {
		return f, nil, s, err
	}
	done = func() error { return errors.Join(s.store.Close(), failed) }
	if s.standing, err = consensus.Survey(s.store.Logs(), s.store.Stable(), raftDir); err == nil {
		err = s.store.CheckTerm(0) // a term that is damaged is not gone on from
	}
	if err == nil {
		f, err = find(p, cluster, node, s.standing)
	}
	if err != nil {
		return f, nil, s, errors.Join(err, done())
	}
	return f, done, s, nil
}

func find(p Plan, cluster, node string, s consensus.Standing) (Finding, error) {
	f := Finding{Cluster: cluster, Node: node, Raft: p.Raft, Term: s.Term, Last: s.Last, LastTerm: s.LastTerm}
	applied, _, err := segment.Reached(datadir.LogDir(p.Dir, p.Kernel))
	if err != nil {
		return f, fmt.Errorf("execution log: %w", err)
	}
	f.Applied = max(applied, s.Snapshot)
	if f.Lacking, err = segment.Lacking(datadir.LogDir(p.Dir, p.Kernel)); err != nil {
		return f, fmt.Errorf("execution log: %w", err)
	}
	voters := 0
	for _, m := range s.Members {
		f.Members = append(f.Members, Member{m.ID, m.Address, m.Voter})
		if m.Voter {
			voters++
		}
		if m.ID == node && f.Raft == "" {
			f.Raft = m.Address
		}
	}
	own := slices.IndexFunc(s.Members, func(m consensus.Member) bool { return m.ID == node })
	switch {
	case own < 0:
		return f, fmt.Errorf("%s is no member of the cluster that its data tells of: use another survivor", node)
	case s.Members[own].Voter && voters == 1 && f.Raft == s.Members[own].Address:
		return f, ErrAlone
	}
	f.Voter = s.Members[own].Voter
	f.Token = token(&f)
	return f, nil
}

// token changes with everything that somebody who confirms it has seen.
func token(f *Finding) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %s %d %d %d %d %t %d %v", f.Cluster, f.Node, f.Raft, f.Term, f.Last, f.LastTerm, f.Applied, f.Voter, f.Lacking, f.Members))
	return hex.EncodeToString(sum[:6])
}

// Carry looks, or recovers with a token.
func Carry(p Plan, token string) (Finding, error) {
	if token == "" {
		return Look(p)
	}
	return Recover(p, token)
}

// Recover makes the node the only member.
func Recover(p Plan, token string) (f Finding, err error) {
	f, done, s, err := look(p)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, done()) }()
	if token != f.Token {
		return f, ErrToken
	}
	through, id, err := extended(p.Dir)
	if err != nil {
		return f, err
	}
	if f.Copy, err = keepCopy(p, f.Last); err != nil {
		return f, err
	}
	note := datadir.Recovery{Index: f.Last + 1, Term: f.Term, ID: id}
	for _, m := range f.Members {
		note.Members = append(note.Members, m.ID)
	}
	if err := datadir.NoteRecovery(p.Dir, note); err != nil {
		return f, err
	}
	f.Index, err = consensus.Reform(s.store.Logs(), s.store.Stable(), s.standing, consensus.Member{ID: f.Node, Address: f.Raft, Voter: true})
	if err != nil {
		return f, err
	}
	return f, datadir.KeepLineage(p.Dir, through)
}
