package kernels

import (
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// world is the ordered log and its replicas. The Sim is the log, and a replica
// of its own that is never late and never fails: what others are compared with.
type world struct {
	t        kerneltest.TB
	sim      *kerneltest.Sim
	replicas []*replica
	first    int // entries that the log has lost at its front
	digests  map[uint64][32]byte

	ops   []Op // what happened
	Stats Stats
}

// Stats counts what happened.
type Stats struct {
	Events, Deliveries, Crashes, Restarts, Snapshots, Installs, Leaders, Jumps, Calls, Lost, Late, Repeated int
}

// Add sums up.
func (s *Stats) Add(o Stats) {
	s.Events += o.Events
	s.Deliveries += o.Deliveries
	s.Crashes += o.Crashes
	s.Restarts += o.Restarts
	s.Snapshots += o.Snapshots
	s.Installs += o.Installs
	s.Leaders += o.Leaders
	s.Jumps += o.Jumps
	s.Calls += o.Calls
	s.Lost += o.Lost
	s.Late += o.Late
	s.Repeated += o.Repeated
}

func newWorld(t kerneltest.TB, sim *kerneltest.Sim, replicas int) *world {
	w := &world{t: t, sim: sim, digests: make(map[uint64][32]byte)}
	for range replicas {
		r := &replica{}
		w.replicas = append(w.replicas, r)
		w.restart(r)
	}
	return w
}

// do makes one Op happen.
func (w *world) do(o Op) {
	w.ops = append(w.ops, o)
	if o.Kind == Commit {
		w.sim.Commit(o.Entry.Event, o.Entry.Apply)
		return
	}
	r := w.replicas[o.Replica]
	if !r.up() {
		if o.Kind == Restart {
			w.Stats.Restarts++
			w.restart(r)
		}
		return
	}
	switch o.Kind {
	case Deliver:
		w.Stats.Deliveries++
		w.apply(r, o.Count)
		w.publish(r)
	case Torn:
		w.Stats.Crashes++
		w.apply(r, o.Count)
		r.crash()
	case Crash:
		w.Stats.Crashes++
		r.crash()
	case Snapshot:
		if r.applied > r.covers {
			w.Stats.Snapshots++
			w.shoot(r)
		}
	case HalfShot:
		if r.applied > r.covers {
			w.Stats.Crashes++
			w.halfShot(r, o.Count)
		}
	case Install:
		w.install(r, w.replicas[o.Other])
	case Trim:
		w.trim(o.Count)
	}
}

// install gives a replica that the log cannot bring further another's snapshot.
func (w *world) install(r, donor *replica) {
	if r.applied >= w.first || donor.covers < w.first {
		return
	}
	w.Stats.Installs++
	r.kernel = w.read(donor.snapshot)
	r.snapshot, r.covers, r.applied = donor.snapshot, donor.covers, donor.covers
	w.publish(r)
}

// donor is a replica whose snapshot reaches what is left of the log.
func (w *world) donor() int {
	for i, r := range w.replicas {
		if r.covers >= w.first {
			return i
		}
	}
	return 0 // nothing was dropped, or somebody would be there
}

// trim drops what some snapshot stands for.
func (w *world) trim(keep int) {
	newest := 0
	for _, r := range w.replicas {
		newest = max(newest, r.covers)
	}
	w.first = max(w.first, newest-keep)
}
