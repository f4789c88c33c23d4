package workers

import "container/list"

// MaxPolls bounds the polls that wait on a node.
const MaxPolls = 1024

// Poll waits for calls of some tools. C is stirred when there may be one, and when the
// term ends.
type Poll struct {
	C     chan struct{}
	names []string
	at    []*list.Element
}

func (p *Poll) stir() {
	select {
	case p.C <- struct{}{}:
	default:
	}
}

// Wait begins a wait; nil when as many wait as may.
func (b *Broker) Wait(names []string) *Poll {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waits >= MaxPolls {
		return nil
	}
	b.waits++
	p := &Poll{C: make(chan struct{}, 1), names: names}
	for _, name := range names {
		if b.polls[name] == nil {
			b.polls[name] = list.New()
		}
		p.at = append(p.at, b.polls[name].PushBack(p))
	}
	return p
}

// Leave ends a wait. What stirred it and was not looked at stirs another.
func (b *Broker) Leave(p *Poll) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waits--
	for i, name := range p.names {
		polls := b.polls[name]
		if polls.Remove(p.at[i]); polls.Len() == 0 {
			delete(b.polls, name)
		}
	}
	select {
	case <-p.C:
		for _, name := range p.names {
			b.stir(name)
		}
	default:
	}
}

// stir wakes the poll that has waited longest of those that are not awake.
func (b *Broker) stir(tool string) {
	polls := b.polls[tool]
	if polls == nil {
		return
	}
	for at := polls.Front(); at != nil; at = at.Next() {
		p := at.Value.(*Poll)
		select {
		case p.C <- struct{}{}:
			return
		default:
		}
	}
}
