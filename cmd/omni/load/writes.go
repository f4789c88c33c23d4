package load

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Label is the label that the agents of a load carry; its value names the load.
const Label = "omni-load"

// Writes is an open loop of commands: definitions of agents, each under a name
// of its own, by clients with a session each. The kernel makes the agents' ids,
// so a command that took effect twice gives two agents of one name.
type Writes struct {
	Client  *client.Client
	Load    string        // names this load among all others
	Clients int           // sessions
	Rate    int           // commands per second, all clients together
	Timeout time.Duration // until a command without an outcome is in doubt
	Ledger  *Ledger
}

// perClient is how many commands one client may have under way. A session
// holds 256; what goes beyond waits, and counts as waiting.
const perClient = 64

// Run sends commands until ctx ends, and returns when the last has its outcome
// or is in doubt.
func (w *Writes) Run(ctx context.Context) {
	forks := make([]*client.Client, w.Clients)
	for i := range forks {
		forks[i] = w.Client.Fork()
	}
	var number atomic.Int64
	interval := time.Second / time.Duration(max(w.Rate, 1))
	Open(ctx, interval, w.Clients*perClient, func(worker int, due time.Time) {
		name := fmt.Sprintf("%s-%d", w.Load, number.Add(1))
		w.Ledger.Add(w.one(forks[worker%w.Clients], name, due))
	})
}

// one sends one command. It has a context of its own: the end of the load is
// not the end of what was begun.
func (w *Writes) one(c *client.Client, name string, due time.Time) Write {
	entry := Write{Name: name, Due: due, Begun: time.Now()}
	done, err := c.Define(context.Background(), w.command(name), client.Timeout(w.Timeout))
	entry.Ended, entry.Fate = time.Now(), FateOf(err)
	if err == nil {
		entry.Node, entry.Index, entry.AgentID = done.Node, done.Index, done.AgentID
	}
	return entry
}

func (w *Writes) command(name string) event.Define {
	return event.Define{Name: name, Labels: map[string]string{Label: w.Load}}
}
