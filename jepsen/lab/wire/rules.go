package wire

import (
	"fmt"
	"slices"
)

// Imposition is rules in force.
type Imposition struct {
	s     *Switch
	rules Rules
}

// Impose puts rules in force, beside those that are already. The frames of one
// moment meet all of them or none.
func (s *Switch) Impose(rules Rules) (*Imposition, error) {
	for link, policy := range rules {
		if s.index(link.From) < 0 || s.index(link.To) < 0 || link.From == link.To {
			return nil, fmt.Errorf("link from %q to %q: both must be hosts of this switch, and differ", link.From, link.To)
		}
		if err := policy.Check(); err != nil {
			return nil, fmt.Errorf("link from %s to %s: %w", link.From, link.To, err)
		}
	}
	i := &Imposition{s: s, rules: rules}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inForce = append(s.inForce, i)
	s.combine()
	return i, nil
}

// Lift takes the rules back. Frames that wait go on waiting; a second time it does
// nothing.
func (i *Imposition) Lift() {
	s := i.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.inForce, i); at >= 0 {
		s.inForce = slices.Delete(s.inForce, at, at+1)
		s.combine()
	}
}

// Heal takes all rules back.
func (s *Switch) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inForce = nil
	s.combine()
}

// combine needs the lock.
func (s *Switch) combine() {
	if len(s.inForce) == 0 {
		s.policies.Store(nil)
		return
	}
	t := make(table, len(s.ports)*len(s.ports))
	for _, i := range s.inForce {
		for link, policy := range i.rules {
			at := s.index(link.From)*len(s.ports) + s.index(link.To)
			t[at] = t[at].And(policy)
		}
	}
	s.policies.Store(&t)
}

// table has a policy for each link, by its number. A nil one has no rules.
type table []Policy

func (t *table) of(l *link) Policy {
	if t == nil {
		return Policy{}
	}
	return (*t)[l.number]
}

func (s *Switch) index(id string) int {
	return slices.IndexFunc(s.ports, func(p *port) bool { return p.id == id })
}
