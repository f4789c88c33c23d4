package disk

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what a file of a data directory is for.
type Kind string

// Kinds of files (docs/log.md has those of the log).
const (
	Sealed    Kind = "sealed"    // a segment of the log that is complete
	Tail      Kind = "tail"      // the segment that is being written
	Index     Kind = "index"     // sidecar of a sealed segment
	Compacted Kind = "compacted" // what is kept of an archived segment
	Archived  Kind = "archived"  // the full file of an archived segment
	Raft      Kind = "raft"      // the Raft log, term and vote, in whichever store
	Snapshot  Kind = "snapshot"  // a Raft snapshot: the state, and what it is of
	Node      Kind = "node"      // whose the directory is
)

// Groups of kinds, which are accepted where a kind is.
const (
	Log Kind = "log" // the execution log
	Any Kind = "any"
)

var logKinds = []Kind{Sealed, Tail, Index, Compacted, Archived}

// Members are the kinds of a group, or the kind itself; nothing if there is no such.
func (k Kind) Members() []Kind {
	switch others := []Kind{Raft, Snapshot, Node}; {
	case k == Any:
		return append(slices.Clone(logKinds), others...)
	case k == Log:
		return logKinds
	case slices.Contains(logKinds, k), slices.Contains(others, k):
		return []Kind{k}
	}
	return nil
}

// Found is a file of a data directory.
type Found struct {
	Kind Kind
	File string // relative to the data directory
	Size int64
}

// List finds the files that can be damaged, in the order of their names. Empty ones,
// and those that only help along (locks, temporary files), are left out.
func (f Files) List() ([]Found, error) {
	var all []Found
	err := filepath.WalkDir(f.Dir, func(full string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a process that runs has removed it
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(f.Dir, full)
		if err != nil {
			return err
		}
		if kind := kindOf(filepath.ToSlash(name)); kind != "" && info.Size() > 0 {
			all = append(all, Found{kind, name, info.Size()})
		}
		return nil
	})
	tails := make(map[string]int) // by directory, the last segment's place
	for i, found := range all {
		if found.Kind == Sealed {
			tails[filepath.Dir(found.File)] = i
		}
	}
	for _, i := range tails {
		all[i].Kind = Tail
	}
	return all, err
}

// kindOf takes every segment for a sealed one: only its place tells the tail.
func kindOf(name string) Kind {
	if name == "node.json" {
		return Node
	}
	parts := strings.Split(name, "/") // kernels/ID/log/…
	if len(parts) < 4 || parts[0] != "kernels" {
		return ""
	}
	switch place, base := parts[2], path.Base(name); {
	case place == "log" && len(parts) == 5 && parts[3] == "archive" && path.Ext(base) == ".seg":
		return Archived
	case place == "log" && len(parts) == 4:
		return map[string]Kind{".seg": Sealed, ".idx": Index, ".cmp": Compacted}[path.Ext(base)]
	case slices.Contains(parts[2:], "snapshots") && (base == "state.bin" || base == "meta.json"):
		return Snapshot
	case place == "raft" && (base == "raft.db" || parts[3] == "wal"):
		return Raft
	}
	return ""
}
