package backups

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/fsm/backup"
)

// file is one backup of this node's.
type file struct {
	path string
	name backup.Name
}

// list gives this node's backups of a cluster, oldest first.
func (k *Keeper) list(clusterID, kernelID string) ([]file, error) {
	entries, err := os.ReadDir(k.o.Dir)
	if err != nil {
		return nil, fmt.Errorf("backups: %w", err)
	}
	var own []file
	for _, entry := range entries {
		name, ok := backup.ParseName(entry.Name())
		if ok && name.Node == k.o.Node && name.Kernel == kernelID && name.Of == clusterID {
			own = append(own, file{filepath.Join(k.o.Dir, entry.Name()), name})
		}
	}
	slices.SortFunc(own, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return own, nil
}

// newest gives the newest one, and notes it; nil when there is none. What a clock
// that was off has dated into the future says nothing about when the next one is due.
func (k *Keeper) newest(own []file, now time.Time) *file {
	at := len(own) - 1
	for at >= 0 && own[at].name.MadeAt.After(now) {
		at--
	}
	if at < 0 {
		return nil
	}
	last := &own[at]
	var bytes int64
	if info, err := os.Stat(last.path); err == nil {
		bytes = info.Size()
	}
	k.note(func(st *Status) {
		st.File, st.Index, st.AtMillis, st.Bytes = last.path, last.name.Index, last.name.MadeAt.UnixMilli(), bytes
	})
	return last
}

// prune removes the oldest ones beyond those that are kept.
func (k *Keeper) prune(own []file) error {
	for len(own) > k.o.Keep {
		if err := os.Remove(own[0].path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("backups: an old one cannot be removed: %w", err)
		}
		k.o.Logger.Info("backup removed", "file", own[0].path, "kept", k.o.Keep)
		own = own[1:]
	}
	return nil
}

// partial is the beginning of the names of this node's unfinished files.
func (k *Keeper) partial() string { return ".backup-" + url.QueryEscape(k.o.Node) + "@" }

// removePartial removes what an earlier process of this node did not finish.
func (k *Keeper) removePartial() error {
	entries, err := os.ReadDir(k.o.Dir)
	if err != nil {
		return fmt.Errorf("backups: %w", err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), k.partial()) && strings.HasSuffix(entry.Name(), backup.PartialSuffix) {
			if err := os.Remove(filepath.Join(k.o.Dir, entry.Name())); err != nil {
				return fmt.Errorf("backups: %w", err)
			}
		}
	}
	return nil
}
