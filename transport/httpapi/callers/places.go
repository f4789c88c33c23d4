package callers

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

type counter = atomic.Uint64

// Places are what there is a fixed amount of, such as streams, or memory for
// bodies, for all callers together and for each.
type Places struct {
	most, each int64
	mark       Mark
	turned     counter // away

	mu   sync.Mutex // guards what follows
	all  int64
	held map[string]int64 // by caller; whoever holds none is not in it
}

// NewPlaces makes most places, at most each for one caller. What they are is
// for the node's log.
func NewPlaces(what string, most, each int64, log hclog.Logger) *Places {
	return &Places{most: most, each: each, mark: NewMark(what, uint64(most), log), held: make(map[string]int64)}
}

// Full tells why there was no place.
type Full int

// The reasons.
const (
	Free    Full = iota // there was one
	AllHeld             // by everybody together
	Yours               // the caller holds as many as one may
)

// Take takes n places for a caller, who must give them back when full is Free.
func (p *Places) Take(caller string, n int64) (full Full) {
	all, full := p.take(caller, n)
	if full != Free {
		p.turned.Add(1)
	}
	p.mark.See(uint64(all), time.Now())
	return full
}

// take gives also how many are held, or would be if there were as many.
func (p *Places) take(caller string, n int64) (all int64, full Full) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := p.held[caller]
	switch {
	case p.all+n > p.most:
		return p.most, AllHeld
	case mine+n > p.each:
		return p.all, Yours
	}
	if mine == 0 {
		caller = strings.Clone(caller)
	}
	p.held[caller] = mine + n
	p.all += n
	return p.all, Free
}

// Back gives n places back.
func (p *Places) Back(caller string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[caller] -= n; p.held[caller] == 0 {
		delete(p.held, caller)
	}
	p.all -= n
}

// Use is how many places are held, of how many, and how often there was none.
type Use struct {
	Held, Most int64
	Turned     uint64
}

// Use counts.
func (p *Places) Use() Use {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Use{Held: p.all, Most: p.most, Turned: p.turned.Load()}
}

// Each is how many one caller may hold.
func (p *Places) Each() int64 { return p.each }
