package disk

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the data of a node whose process is not running.
type Files struct {
	Dir string // the node's data directory
	Old string // where Keep puts copies, outside of it; empty without
}

// Keep copies the files as they are, for damage of the way Stale later on. The copies
// before are dropped. The process may run: copies that are torn are damage, too.
func (f Files) Keep() error {
	if err := os.RemoveAll(f.Old); err != nil {
		return err
	}
	all, err := f.List()
	if err != nil {
		return err
	}
	for _, found := range all {
		content, err := os.ReadFile(filepath.Join(f.Dir, found.File))
		if errors.Is(err, os.ErrNotExist) {
			continue // it was removed meanwhile
		}
		to := filepath.Join(f.Old, found.File)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(to), 0o700)
		}
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", found.File, err)
		}
	}
	return nil
}

// Wipe removes all data; the directory stays.
func (f Files) Wipe() error {
	entries, err := os.ReadDir(f.Dir)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(f.Dir, entry.Name())))
	}
	return err
}

// Choose damages one file of a kind, or of one of a group, in a way. Which, where and
// how follows from the seed, where kind and way leave it open.
func (f Files) Choose(kind Kind, way Way, seed uint64) (Done, error) {
	return f.choose(kind, way, rand.New(rand.NewPCG(seed, 0)), share{})
}

// share is what one node of several may damage: its own files, or a range of its own
// in every file. The zero value is everything.
type share struct {
	part, parts int
	seed        uint64
	files       bool
}

// choose tries what fits until something can be damaged.
func (f Files) choose(kind Kind, way Way, random *rand.Rand, s share) (Done, error) {
	kinds, ways := kind.Members(), allWays
	if way != AnyWay {
		ways = []Way{way}
	}
	if kinds == nil || !slices.Contains(allWays, ways[0]) {
		return Done{}, fmt.Errorf("damage: no kind %q or way %q; there are %v and %v", kind, way, append(Any.Members(), Log, Any), append(Ways(), AnyWay))
	}
	all, err := f.List()
	if err != nil {
		return Done{}, err
	}
	type candidate struct {
		Found
		way Way
	}
	var candidates []candidate
	for _, found := range all {
		if !slices.Contains(kinds, found.Kind) || !s.owns(found.File, all) {
			continue
		}
		for _, way := range ways {
			if s.parts == 0 || s.files || slices.Contains(local, way) {
				candidates = append(candidates, candidate{found, way})
			}
		}
	}
	random.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	for _, c := range candidates {
		part, parts := int64(0), int64(1)
		if s.parts > 0 && !s.files {
			part, parts = int64(s.part), int64(s.parts)
		}
		done, err := f.damage(c.Found, c.way, random, part, parts)
		if !errors.Is(err, ErrNothing) {
			return done, err
		}
	}
	return Done{}, fmt.Errorf("damage: %s has no %s file that could be damaged in the way %q: %w", f.Dir, kind, way, ErrNothing)
}

// owns tells whether a whole file may be damaged. Those of one segment belong
// together, and are dealt out in the order of their names.
func (s share) owns(file string, all []Found) bool {
	if s.parts == 0 || !s.files {
		return true
	}
	stem := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	earlier := uint64(0)
	for _, other := range all {
		if base := filepath.Base(other.File); (other.Kind == Sealed || other.Kind == Tail) && strings.TrimSuffix(base, filepath.Ext(base)) < stem {
			earlier++
		}
	}
	return int((earlier+s.seed)%uint64(s.parts)) == s.part
}
