package cluster

import "github.com/omnikernel/omnikernel/kernel/tools"

// turns keeps back calls of registered tools of which as many are under way as their
// manifests allow: one that hangs does not take every place of the runner. What is
// kept back stays in the outbox, and is given to a worker when one of its tool ends.
// The runner's lock guards it.
type turns struct {
	busy map[uint64]uint32 // calls under way, by revision
	held map[uint64][]held // that wait, the oldest first; some may not any more
	wait map[tools.Key]uint64
	last uint64 // number given out to one that waits
}

// held is a call that waits while its number is that of wait.
type held struct {
	key    tools.Key
	number uint64
}

// defaultConcurrency is how many calls of a tool run at once whose manifest does not
// say it: a part of the runner's places.
const defaultConcurrency = runnerWorkers / 8

func newTurns() turns {
	t := turns{busy: make(map[uint64]uint32)}
	t.reset()
	return t
}

// reset forgets who waits; what runs goes on.
func (t *turns) reset() {
	t.held, t.wait = make(map[uint64][]held), make(map[tools.Key]uint64)
}

// take takes a place for the call, if there is one, or notes that it waits.
func (t *turns) take(revision uint64, key tools.Key, most uint32) bool {
	if most == 0 {
		most = defaultConcurrency
	}
	if t.busy[revision] < most {
		t.busy[revision]++
		delete(t.wait, key)
		return true
	}
	if _, waits := t.wait[key]; !waits && len(t.wait) < maxQueue {
		t.last++
		t.wait[key] = t.last
		t.held[revision] = append(t.held[revision], held{key, t.last})
	}
	return false
}

// give gives a place back, and says who is next.
func (t *turns) give(revision uint64) (next tools.Key, ok bool) {
	if t.busy[revision]--; t.busy[revision] == 0 {
		delete(t.busy, revision)
	}
	for queue := t.held[revision]; len(queue) > 0; queue = t.held[revision] {
		first := queue[0]
		if t.held[revision] = queue[1:]; len(queue) == 1 {
			delete(t.held, revision)
		}
		if t.wait[first.key] == first.number {
			delete(t.wait, first.key)
			return first.key, true
		}
	}
	return tools.Key{}, false
}
