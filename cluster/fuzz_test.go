package cluster_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// FuzzPeerQuestions: whatever another node asks, of whichever kind, it is
// answered or refused, and the node goes on.
func FuzzPeerQuestions(f *testing.F) {
	c := newTrio(f)
	for kind := range 64 {
		for _, body := range [][]byte{nil, make([]byte, 8), make([]byte, 12), event.Encode(&event.Result{Agent: 1, Tick: 1})} {
			f.Add(byte(kind), body)
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		for _, node := range c.nodes {
			if answer, err := node.HandlePeer(ctx, "n2", kind, body); err == nil && len(answer) > 1<<20 {
				t.Fatalf("kind %d: an answer of %d bytes", kind, len(answer))
			}
			if answer, err := node.HandleHistory(ctx, "n2", kind, body, nil); err == nil && len(answer) > 1<<20 {
				t.Fatalf("kind %d: an answer of %d bytes", kind, len(answer))
			}
			if failed := node.Failure(); failed != nil {
				t.Fatalf("kind %d, %x: %v", kind, body, failed)
			}
		}
	})
}

// lying gives whatever it is told for every answer of every peer.
type lying struct {
	consensus.PeerCaller
	answer atomic.Pointer[[]byte]
}

func (l *lying) Call(ctx context.Context, address string, kind byte, body []byte) ([]byte, error) {
	if lie := l.answer.Load(); lie != nil {
		return *lie, nil
	}
	return l.PeerCaller.Call(ctx, address, kind, body)
}

// FuzzPeerAnswers: whatever other nodes answer, a node that asks for their status
// and for a majority's word believes what can be, refuses the rest, and goes on.
func FuzzPeerAnswers(f *testing.F) {
	liars := &lying{}
	c := newTrio(f, func(c *trio) {
		c.adjust = func(config *cluster.Config) {
			if config.NodeID == "n1" {
				liars.PeerCaller, config.Calls = config.Calls, liars
			}
		}
	})
	for _, answer := range []string{"", "null", `{"id":"n2","applied_index":18446744073709551615,"term":1,"stopped":{}}`, "\x00\x00\x00\x00\x00\x00\x00\x00\x01", "\x01NOT_LEADER", "\x01"} {
		f.Add([]byte(answer))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		liars.answer.Store(&answer)
		defer liars.answer.Store(nil)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		if all := c.nodes[0].Status(ctx, false); len(all.Nodes) != 3 {
			t.Fatalf("%q: %d nodes", answer, len(all.Nodes))
		}
		_, _ = c.nodes[0].Read(ctx, cluster.Consistency{Level: cluster.Linearizable}) // it may be refused
		if failed := c.nodes[0].Failure(); failed != nil {
			t.Fatalf("%q: %v", answer, failed)
		}
	})
}
