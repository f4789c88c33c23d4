package drill

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Leadership is one term's beginning, as the log has it: the new leader stamps
// the first event of its term with its clock, which on one machine is ours.
type Leadership struct {
	Node string
	Term uint64
	At   time.Time // to the millisecond
}

// Leaders follows the log for changes of leadership. The zero value is ready.
type Leaders struct {
	mu    sync.Mutex // guards all fields
	seen  []Leadership
	grown chan struct{} // closed by the next change; nil when nobody waits
}

// Watch follows the log until ctx ends.
func (l *Leaders) Watch(ctx context.Context, c *client.Client) {
	for ctx.Err() == nil {
		for record, err := range c.Watch(ctx, api.WatchQuery{Kinds: []string{"EVENT"}}) {
			if err != nil {
				break // begin again: what was missed is a round without this figure
			}
			if begun, ok := leaderStarted(record); ok {
				l.add(begun)
			}
		}
	}
}

func leaderStarted(r api.Record) (Leadership, bool) {
	var event struct {
		Event  string `json:"event"`
		Millis int64  `json:"wall_ms"`
		Body   struct {
			Node string `json:"node"`
			Term uint64 `json:"term"`
		} `json:"body"`
	}
	if json.Unmarshal(r.Body, &event) != nil || event.Event != "LEADER_STARTED" {
		return Leadership{}, false
	}
	return Leadership{event.Body.Node, event.Body.Term, time.UnixMilli(event.Millis)}, true
}

func (l *Leaders) add(begun Leadership) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, begun)
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
}

// Await waits for the first leadership of a later term; false when done is
// closed first.
func (l *Leaders) Await(done <-chan struct{}, term uint64) (Leadership, bool) {
	for {
		l.mu.Lock()
		for _, begun := range l.seen {
			if begun.Term > term {
				l.mu.Unlock()
				return begun, true
			}
		}
		if l.grown == nil {
			l.grown = make(chan struct{})
		}
		grown := l.grown
		l.mu.Unlock()
		select {
		case <-grown:
		case <-done:
			return Leadership{}, false
		}
	}
}
