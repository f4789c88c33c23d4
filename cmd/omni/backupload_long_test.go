//go:build long

package main

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/client"
)

// What an online backup of some GiB of history costs commands: their rate without
// one and beside one, by turns, of the leader and of a follower. Beside commands a
// backup is held to --backup-rate, and they keep four fifths of their throughput.
func TestBackupBesideCommands(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, "--timing", "2")
	size := p.plant(historyGiB(t)<<30, 64)
	p.startAll()
	p.wholeWithin(10 * time.Minute)
	status := p.alike()
	var leader, follower string
	for _, n := range status.Nodes {
		if n.ID == status.Leader {
			leader = n.ID
		} else {
			follower = n.ID
		}
	}
	for what, node := range map[string]string{"the leader": leader, "a follower": follower} {
		var without, beside float64
		var bytes, backups int64
		for range 3 {
			without += p.throughput(10 * time.Second)
			end := p.backUp(node)
			beside += p.throughput(10 * time.Second)
			b, n := end()
			bytes, backups = bytes+b, backups+n
		}
		t.Logf("%s: commands a second %.0f without, %.0f beside backups: %.0f %% are kept; %.1f GiB of backups of %.1f GiB were taken, %d to their end",
			what, without/3, beside/3, 100*beside/without, gib(uint64(bytes)), gib(size), backups)
		require.Positive(t, bytes)
		require.Greater(t, beside, 0.8*without, what)
	}
	p.alike()
	p.stopAll()
}

// backUp takes backups of a node one after the other, until it is told to end; then
// it tells how many bytes came, and how many backups to their end.
func (p *processes) backUp(node string) (end func() (bytes, backups int64)) {
	ctx, cancel := context.WithCancel(p.t.Context())
	var taking sync.WaitGroup
	var taken counter
	var backups int64
	taking.Go(func() {
		c := p.client.Fork()
		for ctx.Err() == nil {
			from, _, err := c.Backup(ctx, client.Node(node))
			if err != nil {
				continue // it was ended, or the next will tell: none at all is a failure
			}
			if _, err := io.Copy(&taken, from); err == nil {
				backups++
			}
			_ = from.Close() // nothing is lost
		}
	})
	return func() (int64, int64) {
		cancel()
		taking.Wait()
		return taken.bytes.Load(), backups
	}
}

// counter counts what is written to it.
type counter struct{ bytes atomic.Int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.bytes.Add(int64(len(b)))
	return len(b), nil
}
