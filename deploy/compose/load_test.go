//go:build docker

package compose

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

const label = "deploy-test"

// writer defines agents, each under a name of its own, one after the other, and notes
// what it was told of each. The kernel makes their ids, so a command that took effect twice
// gives two agents of one name.
type writer struct {
	mu       sync.Mutex
	acked    map[string]string // ids by name
	refused  []string          // they did not happen, and must not
	grown    chan struct{}     // one place: something was acknowledged
	stopped  chan struct{}
	stopping context.CancelFunc
}

func write(c *client.Client) *writer {
	ctx, stop := context.WithCancel(context.Background())
	w := &writer{acked: make(map[string]string), grown: make(chan struct{}, 1), stopped: make(chan struct{}), stopping: stop}
	go func() {
		defer close(w.stopped)
		for n := 0; ctx.Err() == nil; n++ {
			w.one(c, fmt.Sprintf("agent-%d", n))
		}
	}()
	return w
}

func (w *writer) one(c *client.Client, name string) {
	done, err := c.Define(context.Background(), event.Define{Name: name, Labels: map[string]string{label: "yes"}}, client.Timeout(time.Minute))
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.acked[name] = done.AgentID
		select {
		case w.grown <- struct{}{}:
		default:
		}
	case client.Definite(err):
		w.refused = append(w.refused, name)
	}
}

func (w *writer) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.acked)
}

// more waits until so many more commands were acknowledged.
func (w *writer) more(t *testing.T, count int) {
	t.Helper()
	late, enough := time.After(patience), w.count()+count
	for w.count() < enough {
		select {
		case <-w.grown:
		case <-late:
			require.FailNow(t, "commands are not acknowledged")
		}
	}
}

// stop ends the load once the last command has its outcome.
func (w *writer) stop() {
	w.stopping()
	<-w.stopped
}

// check compares what was told with what the cluster has: nothing acknowledged is lost,
// nothing is there twice, and nothing that was refused is there.
func (w *writer) check(t *testing.T, c *client.Client) {
	t.Helper()
	found := make(map[string][]string)
	for agent, err := range c.AllAgents(t.Context(), api.AgentQuery{Labels: map[string]string{label: "yes"}, Limit: api.MaxPageItems}) {
		require.NoError(t, err)
		found[agent.Name] = append(found[agent.Name], agent.AgentID)
	}
	for name, id := range w.acked {
		assert.Equal(t, []string{id}, found[name], "%s was acknowledged", name)
	}
	for _, name := range w.refused {
		assert.Empty(t, found[name], "%s was refused", name)
	}
	for name, ids := range found {
		assert.Len(t, ids, 1, name)
	}
	t.Logf("%d acknowledged, %d refused, %d there", len(w.acked), len(w.refused), len(found))
}
