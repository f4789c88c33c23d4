package demo

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Options of the demo.
type Options struct {
	Tell   *tell.Teller
	Dev    dev.Options   // of the cluster; three nodes on free ports if zero
	Within time.Duration // no wait is longer than this in all; 2 minutes if zero
}

// The load that runs beside the agent.
const (
	clients = 4
	rate    = 200
	enough  = 100 // acknowledged commands before the kill, and after it
)

// demo is one run.
type demo struct {
	Options
	cluster *dev.Cluster
	client  *client.Client
	service *service
	ledger  load.Ledger
	leaders drill.Leaders
	load    string
	sum     Summary
}

// Run does the main job. The error is about the demo itself; what did not hold
// stands in the summary.
func Run(ctx context.Context, options Options) (sum Summary, err error) {
	begun := time.Now()
	if options.Within == 0 {
		options.Within = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, options.Within)
	defer cancel()
	d := &demo{Options: options, load: uuid.NewString()}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.start(ctx); err != nil {
		return d.sum, err
	}
	if err := d.story(ctx); err != nil {
		return d.sum, err
	}
	d.sum.Held = len(d.sum.Broken) == 0
	d.sum.Seconds = time.Since(begun).Seconds()
	return d.sum, nil
}

// story tells one chapter after the other. The load ends before the books are
// compared.
func (d *demo) story(ctx context.Context) error {
	background, end := context.WithCancel(ctx)
	defer end()
	var running sync.WaitGroup
	running.Go(func() { d.leaders.Watch(background, d.client) })
	writes := load.Writes{
		Client: d.client, Load: d.load, Clients: clients, Rate: rate, Timeout: 15 * time.Second, Ledger: &d.ledger,
	}
	running.Go(func() { writes.Run(background) })
	err := d.failover(ctx)
	if err == nil {
		err = d.acknowledged(ctx, d.ledger.Len())
	}
	end()
	running.Wait()
	if err != nil {
		return err
	}
	for _, chapter := range []func(context.Context) error{d.histories, d.toolCalls, d.books, d.digests} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// start starts the cluster and the service.
func (d *demo) start(ctx context.Context) error {
	d.step("Starting three nodes: real processes, real disks.")
	var err error
	if d.cluster, err = dev.Start(ctx, d.Dev); err != nil {
		return err
	}
	file := d.cluster.File()
	for _, node := range file.Nodes {
		d.line("%s  process %d  %s", node.ID, node.PID, node.API)
	}
	if d.client, err = client.New(file.APIs(), client.Options{Kernel: file.KernelID, Attempt: time.Second}); err != nil {
		return err
	}
	if d.service, err = startService(people[held]); err != nil {
		return err
	}
	d.line("a greeting service for the agent's tool: %s", d.service.URL)
	return nil
}

// stop ends everything that start has begun.
func (d *demo) stop() error {
	if d.service != nil {
		d.service.stop()
	}
	if d.client != nil {
		d.client.Close()
	}
	if d.cluster == nil {
		return nil
	}
	return d.cluster.Stop()
}

// failover starts the agent, kills the leader in the middle of its tool call,
// and waits for the agent's end.
func (d *demo) failover(ctx context.Context) error {
	agentID, err := d.begin(ctx)
	if err != nil {
		return err
	}
	if err := d.kill(ctx); err != nil {
		return err
	}
	d.step("Waiting for the agent.")
	agent, err := d.client.Await(ctx, agentID, client.Finished)
	if err != nil {
		return err
	}
	d.sum.State, d.sum.Result = agent.State, agent.Result
	d.line("%s, with the result %s", agent.State, d.sum.Result.AppendJSON(nil))
	d.sum.require(agent.State == "TERMINATED", "the agent is %s", agent.State)
	d.sum.require(agent.Failure == nil, "the agent failed")
	d.sum.require(string(d.sum.Result) == string(d.sum.Expected), "the result is not the expected one")
	return nil
}

// kill takes the leader away while the tool call is pending.
func (d *demo) kill(ctx context.Context) error {
	select {
	case <-d.service.asked:
	case <-ctx.Done():
		return ctx.Err()
	}
	status, err := d.client.Status(ctx)
	if err != nil {
		return err
	}
	waiting, err := d.client.Agent(ctx, d.sum.AgentID)
	if err != nil {
		return err
	}
	if err := d.acknowledged(ctx, 0); err != nil {
		return err
	}
	d.line("the agent is %s: the service was asked to greet %s, and holds its answer back", waiting.State, people[held])
	d.sum.require(waiting.State == "WAITING", "the agent is %s while its call is pending", waiting.State)
	d.step("Killing the leader, %s, with SIGKILL.", status.Leader)
	mark := d.ledger.Len()
	if err := d.cluster.Signal(status.Leader, syscall.SIGKILL); err != nil {
		return err
	}
	begun := time.Now() // what begins from now on, the leader cannot have accepted
	d.service.free()
	d.sum.Killed = status.Leader
	first, ok := d.ledger.AwaitAck(ctx.Done(), mark, func(w load.Write) bool { return w.Begun.After(begun) })
	if !ok {
		return ctx.Err()
	}
	next, ok := d.leaders.Await(ctx.Done(), status.Term)
	if !ok {
		return ctx.Err()
	}
	d.sum.FirstWrite = load.Millis(first.Ended.Sub(begun))
	d.sum.NewLeader, d.sum.NewLeaderMillis = next.Node, load.Millis(max(next.At.Sub(begun), 0))
	d.line("%s leads after %.0f ms; the first command was accepted after %.0f ms", next.Node, d.sum.NewLeaderMillis, d.sum.FirstWrite)
	return nil
}

// acknowledged waits until enough commands of the load have been, from place
// mark of the ledger on.
func (d *demo) acknowledged(ctx context.Context, mark int) error {
	n := 0
	_, ok := d.ledger.AwaitAck(ctx.Done(), mark, func(load.Write) bool { n++; return n >= enough })
	if !ok {
		return ctx.Err()
	}
	return nil
}

func (d *demo) step(format string, args ...any) {
	d.Tell.Story(func(p *tell.Page) { p.Line(""); p.Line("%s", p.Bold(sprintf(format, args...))) })
}

func (d *demo) line(format string, args ...any) {
	d.Tell.Story(func(p *tell.Page) { p.Line("  %s", sprintf(format, args...)) })
}

// history reads the agent's transitions from one node, as of at least an index.
func (d *demo) history(ctx context.Context, node string, index uint64) (api.HistoryPage, error) {
	for {
		page, err := d.client.AllHistory(ctx, d.sum.AgentID, api.HistoryQuery{},
			client.Node(node), client.Consistency(api.SessionLevel), client.MinIndex(index))
		if err == nil || ctx.Err() != nil {
			return page, err
		}
		select {
		case <-time.After(100 * time.Millisecond): // the node that was killed is not back yet
		case <-ctx.Done():
		}
	}
}
