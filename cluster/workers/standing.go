package workers

import (
	"cmp"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Standing is how one tool's calls stand.
type Standing struct {
	Tool    string
	Waiting int // calls that no worker has
	Lent    int
	Polls   int // workers that wait for one
	Leases  []Held
}

// Held is a call that a worker has, as far as it is known which one.
type Held struct {
	Lease
	Worker string
	Left   time.Duration // of the lease
}

// Standings tells of every tool of which there is a call or a poll, by name, each with
// up to most of its leases, by call.
func (b *Broker) Standings(most int, now time.Time) []Standing {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := make(map[string]*Standing)
	of := func(tool string) *Standing {
		if found[tool] == nil {
			found[tool] = &Standing{Tool: tool}
		}
		return found[tool]
	}
	//lint:ordered they are put in order below
	for tool, polls := range b.polls {
		of(tool).Polls = polls.Len()
	}
	//lint:ordered they are put in order below
	for _, e := range b.entries {
		switch s := of(e.Tool); e.stage {
		case waiting:
			s.Waiting++
		case lent:
			s.Lent++
			s.Leases = append(s.Leases, Held{Lease{e.Key, e.fence}, e.worker, e.until.Sub(now)})
		}
	}
	all := make([]Standing, 0, len(found))
	//lint:ordered they are put in order below
	for _, s := range found {
		slices.SortFunc(s.Leases, func(a, b Held) int { return tools.Key.Compare(a.Key, b.Key) })
		s.Leases = s.Leases[:min(most, len(s.Leases))]
		all = append(all, *s)
	}
	slices.SortFunc(all, func(a, b Standing) int { return cmp.Compare(a.Tool, b.Tool) })
	return all
}
