package nodes

import (
	"context"
	"time"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// skews are how far a clock may be set off.
var skews = [...]time.Duration{0, 300 * time.Millisecond, -300 * time.Millisecond, 5 * time.Second, -time.Minute}

// fault is one thing that goes wrong, and how long until the next.
func (r *run) fault() {
	m := r.members[r.dice.intN(len(r.members))]
	switch r.dice.intN(16) {
	case 0, 1, 2:
		if leader := r.leader(); leader != nil && r.dice.intN(2) == 0 {
			m = leader
		}
		r.note("crash %s", m.self.ID)
		r.stats.Crashes++
		r.crash(m)
	case 3, 4:
		r.restartAll()
	case 5, 6, 7:
		r.partition()
	case 8:
		r.note("loss and delay")
		r.stats.Lossy++
		r.network.worsen(30, 20*time.Millisecond)
	case 9:
		r.note("the disk of %s is slow", m.self.ID)
		r.stats.Slow++
		m.disk.slow(time.Duration(50+r.dice.intN(400)) * time.Millisecond)
	case 10, 11:
		r.transfer()
	case 12, 13:
		by := skews[r.dice.intN(len(skews))]
		r.note("the clock of %s is off by %v", m.self.ID, by)
		r.stats.Clocks++
		m.wall.Store(int64(by))
	case 14:
		r.note("all crash")
		r.stats.Crashes += len(r.members)
		for _, m := range r.members {
			r.crash(m)
		}
		r.restartAll()
	case 15:
		r.heal()
	}
	r.pause(time.Duration(50+r.dice.intN(1200)) * time.Millisecond)
	r.look()
}

// restartAll brings back who is down, and the links.
func (r *run) restartAll() {
	r.network.heal()
	for _, m := range r.members {
		m.disk.slow(0)
		if m.node() == nil {
			r.note("start %s", m.self.ID)
			r.start(m)
		}
	}
}

// heal ends all faults.
func (r *run) heal() {
	r.note("heal")
	for _, m := range r.members {
		m.wall.Store(0)
	}
	r.restartAll()
}

// partition cuts links: halves, one node, one direction, a ring.
func (r *run) partition() {
	r.stats.Partitions++
	order := r.dice.shuffled(len(r.members))
	cut := func(a, b int) { r.network.cut(r.members[a].self.Raft, r.members[b].self.Raft) }
	switch kind := r.dice.intN(4); kind {
	case 0:
		minority := order[:len(order)/2]
		r.note("halves: %v are cut off", minority)
		for _, a := range minority {
			for _, b := range order[len(order)/2:] {
				cut(a, b)
				cut(b, a)
			}
		}
	case 1:
		one := order[0]
		if leader := r.leader(); leader != nil {
			for i, m := range r.members {
				if m == leader {
					one = i
				}
			}
		}
		r.note("%s is cut off", r.members[one].self.ID)
		for b := range r.members {
			if b != one {
				cut(one, b)
				cut(b, one)
			}
		}
	case 2:
		r.note("nobody hears %s", r.members[order[0]].self.ID)
		for _, b := range order[1:] {
			cut(order[0], b)
		}
	case 3:
		r.note("a ring: %v each hear their neighbours alone", order)
		for i, a := range order {
			for j, b := range order {
				if next := (i + 1) % len(order); j != i && j != next && (len(order) == 3 || (j+1)%len(order) != i) {
					cut(a, b)
				}
			}
		}
	}
}

func (r *run) transfer() {
	leader := r.leader()
	if leader == nil {
		return
	}
	node := leader.node()
	if node == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	r.stats.Transfers++
	r.note("%s hands over: %v", leader.self.ID, node.Transfer(ctx, ""))
}

// look counts the nodes that got a snapshot from another: the beginning of their
// log is missing until they have fetched it.
func (r *run) look() {
	for _, m := range r.members {
		l := m.alive.Load()
		if l == nil || l.installed {
			continue
		}
		if _, err := l.node.Log().ReadFrom(1, func(uint64, *logging.Block) bool { return false }); err != nil {
			l.installed = true
			r.stats.Installs++
			r.note("%s has a snapshot of another: %v", m.self.ID, err)
		}
	}
}
