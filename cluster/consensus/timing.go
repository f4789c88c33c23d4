package consensus

import (
	"fmt"
	"time"

	"github.com/hashicorp/raft"
)

// Timing of a group. The zero value means the defaults.
type Timing struct {
	// Multiplier scales every time below, for loaded or slow machines; 1 to 10.
	Multiplier int
	// Heartbeat is how long a follower hears nothing before it stands for
	// election; the leader sends ten times as often. 300 ms.
	Heartbeat time.Duration
	// Election bounds one election. 300 ms.
	Election time.Duration
	// Lease is how long a leader goes on without a majority. Heartbeats are
	// answered behind a follower's disk, so it is as long as the heartbeat
	// timeout, the library's longest. 300 ms.
	Lease time.Duration
	// Commit is how soon an idle follower learns that the last entry is
	// committed; a follower's linearizable read waits for it. 20 ms.
	Commit time.Duration
	// Transport bounds one request between nodes. 3 s.
	Transport time.Duration
}

func (t Timing) withDefaults() (Timing, error) {
	if t.Multiplier == 0 {
		t.Multiplier = 1
	}
	if t.Multiplier < 1 || t.Multiplier > 10 {
		return t, fmt.Errorf("timing multiplier %d, want 1 to 10", t.Multiplier)
	}
	for _, field := range []struct {
		value   *time.Duration
		instead time.Duration
	}{
		{&t.Heartbeat, 300 * time.Millisecond},
		{&t.Election, 300 * time.Millisecond},
		{&t.Lease, 300 * time.Millisecond},
		{&t.Commit, 20 * time.Millisecond},
		{&t.Transport, 3 * time.Second},
	} {
		if *field.value == 0 {
			*field.value = field.instead
		}
		*field.value *= time.Duration(t.Multiplier)
	}
	t.Multiplier = 1
	return t, nil
}

// Limits of a group. A zero field means the default named beside it.
type Limits struct {
	// Queued is how many proposals wait in front of the proposer. 4096.
	Queued int
	// InFlight is how many are with the library. 1024.
	InFlight int
	// Bytes bounds both together. 64 MiB.
	Bytes int64
	// EntryBytes bounds one proposal. 512 KiB.
	EntryBytes int
	// LargeBytes: of the proposals above this size, one is in flight at a time,
	// since the library bounds its messages by entries, not by bytes. 64 KiB.
	LargeBytes int
	// AppendEntries is how many entries one message to a follower carries, and one
	// fsync of the leader. With at most InFlight entries of at most LargeBytes each
	// under way, a message stays below 32 MiB. 512.
	AppendEntries int
	// TrailingLogs is how many entries stay behind a snapshot, so that a
	// follower that was away needs no snapshot. It must exceed what is written
	// while a snapshot is transferred and restored. 32,768.
	TrailingLogs uint64
	// SnapshotBytes of entries trigger a snapshot, or twice the size of the last
	// one, whichever is more. 64 MiB.
	SnapshotBytes uint64
	// LearnerLag is how many entries a learner may be behind to become a voter. 1024.
	LearnerLag uint64
}

func (l Limits) withDefaults() Limits {
	fill(&l.Queued, 4096)
	fill(&l.InFlight, 1024)
	fill(&l.Bytes, 64<<20)
	fill(&l.EntryBytes, 512<<10)
	fill(&l.LargeBytes, 64<<10)
	fill(&l.AppendEntries, 512)
	fill(&l.TrailingLogs, 32_768)
	fill(&l.SnapshotBytes, 64<<20)
	fill(&l.LearnerLag, 1024)
	return l
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// never is longer than any process lives.
const never = 10 * 365 * 24 * time.Hour

// raftConfig is the library's configuration.
func (c Config) raftConfig(notify chan<- bool) *raft.Config {
	out := raft.DefaultConfig()
	out.LocalID = raft.ServerID(c.NodeID)
	out.HeartbeatTimeout = c.Timing.Heartbeat
	out.ElectionTimeout = c.Timing.Election
	out.LeaderLeaseTimeout = c.Timing.Lease
	out.CommitTimeout = c.Timing.Commit
	out.MaxAppendEntries = c.Limits.AppendEntries
	out.BatchApplyCh = true
	out.ShutdownOnRemove = false
	out.TrailingLogs = c.Limits.TrailingLogs
	// Snapshots are ours to trigger.
	out.SnapshotInterval = never
	out.SnapshotThreshold = 1 << 62
	out.NotifyCh = notify
	out.Logger = c.Logger
	out.NoLegacyTelemetry = true
	out.PreVoteDisabled = false
	return out
}
