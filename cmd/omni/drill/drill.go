package drill

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Kind of a drill.
type Kind string

// The kinds.
const (
	KillLeader  Kind = "kill-leader"
	PauseLeader Kind = "pause-leader"
	Transfer    Kind = "transfer"
)

// Nodes are the processes of the cluster: *dev.Cluster and *dev.Attached.
type Nodes interface {
	File() dev.File
	Signal(id string, signal syscall.Signal) error
}

// Options of a drill.
type Options struct {
	Kind      Kind
	Rounds    int
	Clients   int           // of the load
	Rate      int           // commands per second
	Heartbeat time.Duration // pauses are 1 to 10 of these
	Timeout   time.Duration // of one command, until it is in doubt, and of each wait of a round
	Nodes     Nodes
	Talk      func(string) // told, in sentences, how it goes
}

// attempt bounds one request, but a transfer's: a node that does not answer is
// left soon for another, since it may be the one that is paused.
const attempt = 500 * time.Millisecond

// drill is one run.
type drill struct {
	Options
	name    string // of the load
	client  *client.Client
	patient *client.Client // for what takes its time
	ledger  load.Ledger
	leaders Leaders
	readers readers
}

// Run runs a drill to its end. The error is about the drill itself: what the
// cluster did wrong stands in the report.
func Run(ctx context.Context, options Options) (Report, error) {
	d := &drill{Options: options, name: uuid.NewString()}
	if err := d.connect(); err != nil {
		return Report{}, err
	}
	defer d.client.Close()
	defer d.patient.Close()
	if _, err := d.awaitWell(ctx); err != nil {
		return Report{}, err
	}
	background, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { d.leaders.Watch(background, d.client) })
	if d.Kind == PauseLeader {
		running.Go(func() { d.readers.run(background, d) })
	}
	writes := load.Writes{
		Client: d.client, Load: d.name, Clients: d.Clients, Rate: d.Rate, Timeout: d.Timeout, Ledger: &d.ledger,
	}
	running.Go(func() { writes.Run(background) })
	rounds, err := d.rounds(ctx)
	end()
	running.Wait()
	if err != nil {
		return Report{}, err
	}
	return d.report(ctx, rounds)
}

// connect makes the clients of the cluster.
func (d *drill) connect() (err error) {
	file := d.Nodes.File()
	options := client.Options{Kernel: file.KernelID, Timeout: d.Timeout, Attempt: d.Timeout}
	if d.patient, err = client.New(file.APIs(), options); err != nil {
		return err
	}
	options.Attempt = attempt
	d.client, err = client.New(file.APIs(), options)
	return err
}

func (d *drill) rounds(ctx context.Context) ([]Round, error) {
	rounds := make([]Round, 0, d.Rounds)
	for n := 1; n <= d.Rounds; n++ {
		round, err := d.round(ctx, n)
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", n, err)
		}
		d.Talk(round.sentence(d.Rounds))
		rounds = append(rounds, round)
	}
	return rounds, nil
}

// calm waits until all is well, and has been while the load flowed: whoever led
// then leads now.
func (d *drill) calm(ctx context.Context) (status api.Status, perSecond float64, err error) {
	for {
		if status, err = d.awaitWell(ctx); err != nil {
			return status, 0, err
		}
		if perSecond, err = d.flow(ctx); err != nil {
			return status, 0, err
		}
		now, err := d.client.Status(ctx)
		if err != nil {
			return status, 0, err
		}
		if now.Leader == status.Leader && now.Term == status.Term {
			return status, perSecond, nil
		}
	}
}

// flowing is how long the load must flow before each fault.
const flowing = time.Second

// flow waits until enough commands were accepted for a while, and says how many
// they were per second. A cluster over which the last fault still casts its
// shadow gets more time, up to the limit; then the round is not valid.
func (d *drill) flow(ctx context.Context) (perSecond float64, err error) {
	for deadline := time.Now().Add(d.Timeout); ; {
		from := time.Now()
		select {
		case <-time.After(flowing):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		now := time.Now()
		perSecond = float64(d.ledger.AckedBetween(from, now)) / now.Sub(from).Seconds()
		if perSecond >= d.leastRate() || now.After(deadline) {
			return perSecond, nil
		}
	}
}

// round is one fault: from a cluster that is well to its first accepted
// command.
func (d *drill) round(ctx context.Context, n int) (Round, error) {
	status, before, err := d.calm(ctx)
	if err != nil {
		return Round{}, err
	}
	round := Round{Round: n, Leader: status.Leader, Before: before}
	mark := d.ledger.Len()
	begun, err := d.fault(ctx, &round)
	if err != nil {
		return Round{}, err
	}
	limit, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	first, ok := d.ledger.AwaitAck(limit.Done(), mark, d.suits(&round, begun))
	if !ok {
		return Round{}, errors.Join(ctx.Err(), fmt.Errorf("no command was accepted within %v after %s was gone", d.Timeout, round.Leader))
	}
	round.FirstWrite = load.Millis(first.Ended.Sub(begun))
	round.Accepted = first.Node
	if d.Kind == KillLeader || first.Node != round.Leader {
		if next, ok := d.leaders.Await(limit.Done(), status.Term); ok {
			millis := load.Millis(max(next.At.Sub(begun), 0))
			round.NewLeader, round.NewLeaderMillis = next.Node, &millis
		}
	}
	return round, nil
}

// suits says which acknowledged command counts as the first after the fault:
// one that was begun after it. When leadership is handed over the old leader
// goes on until it has; so there the new one must have accepted it.
func (d *drill) suits(round *Round, begun time.Time) func(load.Write) bool {
	return func(w load.Write) bool {
		return w.Begun.After(begun) && (d.Kind != Transfer || w.Node != round.Leader)
	}
}

// fault takes the leader away, and says from when on it was away: what begins
// after that, it cannot have accepted. A pause is over when fault returns.
func (d *drill) fault(ctx context.Context, round *Round) (away time.Time, err error) {
	switch d.Kind {
	case KillLeader:
		err = d.Nodes.Signal(round.Leader, syscall.SIGKILL)
		return time.Now(), err
	case PauseLeader:
		pause := time.Duration(1+(round.Round-1)%10) * d.Heartbeat
		round.PauseMillis = load.Millis(pause)
		if err := d.Nodes.Signal(round.Leader, syscall.SIGSTOP); err != nil {
			return away, err
		}
		away = time.Now()
		// Whatever happens, nobody is left paused.
		defer func() { _ = d.Nodes.Signal(round.Leader, syscall.SIGCONT) }()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		return away, ctx.Err()
	default:
		away = time.Now()
		_, err := d.patient.Transfer(ctx, "")
		var unknown *client.Unknown
		if errors.As(err, &unknown) {
			err = nil // it may have come about: the next accepted command tells
		}
		return away, err
	}
}
