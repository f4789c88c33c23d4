package survivor

import (
	"errors"

	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/lineage"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// extended is the directory's lineage with one more recovery, and that one's id. It is
// kept when the Raft store has the recovery: what the lost members have is of another
// cluster from then on (ME-9).
func extended(dir string) (through, id string, err error) {
	own, err := datadir.Lineage(dir)
	if err != nil {
		return "", "", err
	}
	if id, err = lineage.NewID(); err != nil {
		return "", "", err
	}
	through, err = lineage.Extend(own, id)
	return through, id, err
}

// Settle ends a recovery that was cut short, before the node starts: it has happened if
// the Raft store has its configuration, and otherwise the note of it is wrong. Without a
// note, after a recovery that was not cut short, and after one by a binary that knew of no
// lineages, it does nothing.
func Settle(p Plan) (err error) {
	note, pending, err := datadir.PendingRecovery(p.Dir)
	if err != nil || !pending || note.ID == "" {
		return err
	}
	own, err := datadir.Lineage(p.Dir)
	if err != nil || lineage.Ends(own, note.ID) {
		return err
	}
	missing, err := raftstore.Missing(p.Store, datadir.RaftDir(p.Dir, p.Kernel))
	if err != nil || missing != "" {
		return err // the start says what is missing
	}
	store, err := raftstore.Open(raftstore.Options{Kind: p.Store, Dir: datadir.RaftDir(p.Dir, p.Kernel), Fatal: func(error) {}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	found, err := consensus.Survey(store.Logs(), store.Stable(), datadir.RaftDir(p.Dir, p.Kernel))
	switch {
	case err != nil:
		return err
	case found.Since == note.Index && len(found.Members) == 1:
		through, err := lineage.Extend(own, note.ID)
		if err != nil {
			return err
		}
		return datadir.KeepLineage(p.Dir, through)
	}
	return datadir.ForgetRecovery(p.Dir)
}
