//go:build long

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/client"
)

// How much history there is to fetch, in GiB: what OMNI_TEST_GIB says, or 4.
func historyGiB(t *testing.T) uint64 {
	if text := os.Getenv("OMNI_TEST_GIB"); text != "" {
		n, err := strconv.ParseUint(text, 10, 8)
		require.NoError(t, err)
		return n
	}
	return 4
}

// A node with an empty disk fetches several GiB. While nothing else goes on that
// is bound by the disk and by what verifying costs; while commands are under way
// they keep four fifths of their throughput.
func TestBackfillBesideCommands(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, "--timing", "2")
	size := p.plant(historyGiB(t)<<30, 64)
	written := diskSpeed(t, p.dirs[0], 1<<30)

	p.startAll()
	p.awaitBehind(2)
	began, before := time.Now(), p.cpuSeconds()
	p.wholeWithin(10 * time.Minute)
	took, after := time.Since(began), p.cpuSeconds()
	t.Logf("%.1f GiB of history fetched in %.1f s: %.0f MiB/s; the disk takes %.0f MiB/s; CPU seconds: %.1f of who gave, %.1f of who took",
		gib(size), took.Seconds(), float64(size>>20)/took.Seconds(), written,
		after[0]+after[1]-before[0]-before[1], after[2]-before[2])

	var without, beside float64
	for range 3 {
		alone := p.throughput(10 * time.Second)
		p.kill(2)
		require.NoError(t, os.RemoveAll(p.dirs[2]))
		p.start(2)
		p.awaitBehind(2)
		together := p.throughput(10 * time.Second)
		status, err := p.client.Status(t.Context())
		require.NoError(t, err)
		require.NotNil(t, status.Nodes[2].Backfill, "it was fetched too soon to measure anything")
		t.Logf("commands a second: %.0f without, %.0f while %.1f GiB were fetched",
			alone, together, gib(status.Nodes[2].Backfill.FetchedBytes))
		without, beside = without+alone, beside+together
		p.wholeWithin(10 * time.Minute)
	}
	require.Greater(t, beside, 0.8*without)
	p.alike()
	p.stopAll()
}

func gib(bytes uint64) float64 { return float64(bytes) / (1 << 30) }

// diskSpeed writes a file as history is written, with an fsync every 8 MiB, and
// tells the MiB a second.
func diskSpeed(t *testing.T, dir string, bytes int) float64 {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	f, err := os.CreateTemp(dir, "speed")
	require.NoError(t, err)
	block, began := make([]byte, 8<<20), time.Now()
	for at := 0; at < bytes; at += len(block) {
		block[0]++
		_, err := f.Write(block)
		require.NoError(t, err)
		require.NoError(t, f.Sync())
	}
	took := time.Since(began)
	require.NoError(t, f.Close())
	require.NoError(t, os.Remove(f.Name()))
	return float64(bytes>>20) / took.Seconds()
}

// cpuSeconds is what each process has used so far.
func (p *processes) cpuSeconds() (used []float64) {
	p.t.Helper()
	const ticks = 100 // a second, as /proc counts on every Linux
	for _, cmd := range p.nodes {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		require.NoError(p.t, err)
		fields := strings.Fields(string(stat[strings.LastIndex(string(stat), ")")+2:]))
		user, err := strconv.ParseFloat(fields[11], 64)
		require.NoError(p.t, err)
		system, err := strconv.ParseFloat(fields[12], 64)
		require.NoError(p.t, err)
		used = append(used, (user+system)/ticks)
	}
	return used
}

// wholeWithin waits until every node has all history.
func (p *processes) wholeWithin(limit time.Duration) {
	p.t.Helper()
	require.Eventually(p.t, func() bool {
		status, err := p.client.Status(p.t.Context())
		return err == nil && status.Nodes[2].HistoryFrom == 1 && status.Nodes[2].Backfill == nil
	}, limit, 100*time.Millisecond)
}

// throughput is how many commands 64 clients get done a second.
func (p *processes) throughput(during time.Duration) float64 {
	p.t.Helper()
	const clients, warmup = 64, 2 * time.Second
	forks := make([]*client.Client, clients)
	for i := range forks {
		forks[i] = p.client.Fork()
	}
	var done, failed atomic.Int64
	var number atomic.Uint64
	from := time.Now().Add(warmup)
	ctx, cancel := context.WithDeadline(p.t.Context(), from.Add(during))
	defer cancel()
	load.Closed(ctx, clients, func(i int) {
		n := number.Add(1)
		_, err := forks[i].PutShared(context.WithoutCancel(ctx), event.PutShared{
			Namespace: "load", Key: fmt.Sprint(n % 1000), Value: value.Raw(value.AppendString(nil, strings.Repeat("v", 100))),
		})
		switch now := time.Now(); {
		case err != nil:
			failed.Add(1)
		case now.After(from) && now.Before(from.Add(during)):
			done.Add(1)
		}
	})
	require.Zero(p.t, failed.Load())
	return float64(done.Load()) / during.Seconds()
}
