package consensus

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// Group is one Raft group on this node. Its methods may be called from any
// goroutine.
type Group struct {
	config    Config
	raft      *raft.Raft
	transport *steadyTransport
	progress  *progress

	// Proposals.
	tenure  atomic.Pointer[tenure] // nil while this node does not lead
	bytes   atomic.Int64           // of proposals that are queued or in flight
	open    gauge                  // proposals that are queued or in flight
	flights chan flight
	large   chan struct{} // a token for the one large proposal in flight

	asked gauge // rare requests that the library has not answered

	// Reads.
	ready    atomic.Uint64 // the term whose first event is applied
	caughtUp atomic.Bool
	rounds   rounds
	askers   askers

	// End. closing is closed first: nobody waits any longer. stopped is closed
	// when the library has stopped.
	ctx       context.Context
	cancel    context.CancelFunc
	closing   chan struct{}
	stopped   chan struct{}
	crew      crew
	collected chan struct{} // closed when the collector has returned
	closeOnce sync.Once
	closeErr  error
}

// Start begins to take part. It returns when the last snapshot has been
// restored; entries behind it are applied when a leader is known.
func Start(c Config) (*Group, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	network := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream:  c.Stream,
		MaxPool: 3,
		// Overlapping requests cost throughput here, and can wedge a follower
		// after its disk stalled.
		MaxRPCsInFlight: 1,
		Timeout:         c.Timing.Transport,
		Logger:          c.Logger,
	})
	g := &Group{
		config:    c,
		transport: newSteadyTransport(network),
		progress:  newProgress(c.FSM),
		flights:   make(chan flight, c.Limits.InFlight),
		large:     make(chan struct{}, 1),
		closing:   make(chan struct{}),
		stopped:   make(chan struct{}),
		collected: make(chan struct{}),
	}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	notify := make(chan bool)
	if err := g.startRaft(notify); err != nil {
		g.cancel()
		return nil, errors.Join(err, g.transport.Close())
	}
	g.crew.start(func() { g.observe(notify) })
	g.crew.start(g.catchUp)
	g.crew.start(g.watchGrowth)
	if c.Crash != nil {
		g.crew.start(g.watchLeader)
	}
	go func() {
		defer close(g.collected)
		g.collect()
	}()
	return g, nil
}

func (g *Group) startRaft(notify chan<- bool) error {
	c := g.config
	conf := c.raftConfig(notify)
	if err := bootstrap(c, conf, g.transport); err != nil {
		return err
	}
	if c.Growth != nil {
		if err := countGrowth(c); err != nil {
			return err
		}
	}
	var err error
	if g.raft, err = g.begin(conf); err != nil {
		return err
	}
	g.transport.speakFor(g.raft, c.NodeID)
	return nil
}

func (g *Group) isClosing() bool {
	select {
	case <-g.closing:
		return true
	default:
		return false
	}
}

// Stop hands leadership over when this node leads, within the context, and
// closes the group. Handing over may fail, which is told as a *Refusal; closing
// goes on regardless.
func (g *Group) Stop(ctx context.Context) error {
	var handOver error
	if g.tenure.Load() != nil && len(g.otherVoters()) > 0 {
		handOver = g.Transfer(ctx, "")
		var no *Refusal
		if handOver != nil && !errors.As(handOver, &no) {
			handOver = refusal(Unreachable, "%v", handOver) // the others stop, too
		}
	}
	return errors.Join(handOver, g.Close())
}

// Close ends the group without handing over. Whoever waits is answered at once:
// a queued proposal is refused, one in flight is unknown. Close then gives what
// is in flight a moment to be applied, stops the library, and closes the
// streams. It does not close the store.
func (g *Group) Close() error {
	g.closeOnce.Do(func() {
		close(g.closing)
		g.cancel() // ends the tenure: the proposer empties its queue
		patience, cancel := context.WithTimeout(context.Background(), g.config.Timing.Transport)
		drained := g.open.drain(patience)
		cancel()
		// The library ends a transfer of leadership within an election.
		patience, cancel = context.WithTimeout(context.Background(), 2*g.config.Timing.Election)
		g.asked.drain(patience)
		cancel()
		end := g.raft.Shutdown()
		// The library waits for its requests under way; closing their streams
		// spares it the time that a dead peer would take.
		g.closeErr = g.transport.Close()
		g.closeErr = errors.Join(g.closeErr, end.Error())
		close(g.stopped)
		g.crew.dismiss()
		if drained {
			<-g.collected
		}
		// Otherwise the collector may sit in a future that the library has left
		// unresolved; it holds nothing but that.
	})
	return g.closeErr
}
