package disk

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Helix damages the data directories of all nodes of a cluster, never the same part:
// what one node lost, every other one has.
func Helix(dirs []string, seed uint64) ([]Done, error) {
	var all []Done
	for part, dir := range dirs {
		done, err := Files{Dir: dir}.choosePart(Any, AnyWay, part, len(dirs), seed)
		if err != nil {
			return all, err
		}
		all = append(all, done)
	}
	return all, nil
}

// choosePart damages what is the part-th node's of so many.
//
// The files of the log are the same bytes on each node. So each node is given either
// files of its own, all of them by the seed, or a range of its own in all files. How
// long the tail is differs: it is only ever damaged in ranges. The Raft log and the
// snapshots are each node's own, and what they hold cannot be told from outside: one
// node of all, by the seed, may be damaged there, and the others in the log.
func (f Files) choosePart(kind Kind, way Way, part, parts int, seed uint64) (Done, error) {
	random := rand.New(rand.NewPCG(seed, uint64(part)))
	s := share{part: part, parts: parts, seed: seed / 2, files: seed%2 == 0}
	if way != AnyWay {
		s.files = !slices.Contains(local, way)
	}
	ofLog := slices.Contains(append(slices.Clone(logKinds), Log), kind)
	switch {
	case !ofLog && int(seed%uint64(parts)) == part:
		if kind == Any {
			kind = []Kind{Raft, Snapshot, Node}[random.IntN(3)]
		}
		if done, err := f.choose(kind, way, random, share{}); err == nil || way != AnyWay {
			return done, err
		}
		kind = Log
	case !ofLog:
		kind = Log
	case kind == Tail && s.files:
		return Done{}, fmt.Errorf("damage: the tail of every node in the way %q would be the same damage", way)
	}
	if kind != Log {
		return f.choose(kind, way, random, s)
	}
	kinds := []Kind{Sealed, Index}
	random.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	done, err := f.choose(kinds[0], way, random, s)
	if err != nil {
		done, err = f.choose(kinds[1], way, random, s)
	}
	return done, err
}

// Damage is Choose, with names as scenarios have them, and tells what it did as a
// history records it.
func (f Files) Damage(file, way string, seed uint64) (map[string]any, error) {
	done, err := f.Choose(Kind(file), Way(way), seed)
	if err != nil {
		return nil, err
	}
	return done.Detail(), nil
}

// Share is one node's part of what Helix does, the part-th of so many, with names as
// scenarios have them.
func (f Files) Share(file, way string, part, parts int, seed uint64) (map[string]any, error) {
	done, err := f.choosePart(Kind(file), Way(way), part, parts, seed)
	if err != nil {
		return nil, err
	}
	return done.Detail(), nil
}
