package consensus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// Whatever happens, callers are told the truth: what was applied is in every
// history once, what was refused never is, what is unknown at most once (CL-2).
func TestOutcomesAreTrue(t *testing.T) {
	overStores(t, func(t *testing.T, store raftstore.Kind) {
		if store == memory {
			outcomesAreTrue(t, store, 0, 4*time.Millisecond, 300)
			outcomesAreTrue(t, store, 1, 4*time.Millisecond, 300)
			return
		}
		// No time passes while a disk works: less is written, or it takes long.
		outcomesAreTrue(t, store, 1, 12*time.Millisecond, 100)
	})
}

// outcomesAreTrue runs clients that pause for pace between commands, until at
// least so many were applied.
func outcomesAreTrue(t *testing.T, store raftstore.Kind, seed uint64, pace time.Duration, least int) {
	c := newClusterOver(t, store, 3, func(c *Config) { c.Limits = Limits{Queued: 64, InFlight: 16} })
	random := rand.New(rand.NewPCG(seed, 7))
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	verdicts := make(map[string]Verdict)
	var clients sync.WaitGroup
	for client := range 8 {
		clients.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				n := c.nodes[(client+i)%3]
				g := n.group()
				if g == nil {
					pause(ctx, 5*time.Millisecond)
					continue
				}
				data := fmt.Sprintf("%d-%d", client, i)
				patience, stop := context.WithTimeout(ctx, time.Duration(i%50+1)*10*time.Millisecond)
				out := g.Propose(patience, []byte(data))
				stop()
				mu.Lock()
				verdicts[data] = out.Verdict
				mu.Unlock()
				pause(ctx, pace)
			}
		})
	}
	for range 15 {
		leader := c.leader()
		switch random.IntN(4) {
		case 0:
			c.network.isolate(leader.address())
		case 1:
			c.crash(leader)
		case 2:
			_ = leader.group().Transfer(ctx, "")
		case 3:
			heir := c.others(leader)[0]
			heir.group().transport.timeoutNow(raftHeader(heir))
		}
		time.Sleep(time.Duration(random.IntN(1200)) * time.Millisecond)
		for _, n := range c.nodes {
			if n.group() == nil {
				c.start(n)
			}
		}
		c.network.heal()
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
	}
	cancel()
	clients.Wait()
	c.leader()
	time.Sleep(time.Second)
	requireConsistent(t, c, verdicts, least/100, 100)
	require.Greater(t, len(c.nodes[0].machine.lines()), least)
	c.close()
}
