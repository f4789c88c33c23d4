package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// nodeOrder is a command that changes a node's lifecycle.
type nodeOrder struct {
	name string
	how  api.NodeOrder
	wait time.Duration // for what follows it
	// settled tells whether a node has come to what was ordered; boot is which start
	// of its process it was when it was told.
	settled func(now api.NodeState, boot uint64) bool
}

const nodeLook = 100 * time.Millisecond

func (a *app) orderCommand(o *nodeOrder, c *cobra.Command) *cobra.Command {
	c.Use, c.Args = o.name+" NODE", exactly("NODE")
	c.Flags().StringVar(&o.how.Reason, "reason", "", "kept in the node's journal")
	c.Flags().BoolVar(&o.how.DryRun, "dry-run", false, "change nothing: say what would come of it, and what would refuse it")
	c.RunE = func(c *cobra.Command, args []string) error {
		connection, err := a.connect()
		if err != nil {
			return err
		}
		defer connection.Close()
		node := client.Node(args[0])
		before, err := connection.NodeState(c.Context(), node)
		if err != nil {
			return err
		}
		done, err := connection.OrderNode(c.Context(), o.name, o.how, node)
		if err != nil {
			return err
		}
		if o.settled != nil && o.wait > 0 && !done.DryRun {
			a.settle(c.Context(), connection, o, before.Boot, &done, node)
		}
		return a.tell.Data(done, func(p *tell.Page) { show.NodeOrdered(p, done) })
	}
	return c
}

// settle waits until a node has come to what was ordered, and tells how it stands
// then. That it takes longer is no failure of the order.
func (a *app) settle(ctx context.Context, connection *client.Client, o *nodeOrder, boot uint64, done *api.NodeOrdered, node client.Option) {
	ctx, cancel := context.WithTimeout(ctx, o.wait)
	defer cancel()
	meter := a.tell.Meter()
	defer meter.Done()
	for {
		now, err := connection.NodeState(ctx, node)
		if err == nil {
			done.State, done.UnderWay = now.State, now.UnderWay
			if o.settled(now, boot) {
				return
			}
		}
		meter.Show("%s: %s, %d commands and %d calls under way", done.Node, done.State, done.UnderWay.Commands, done.UnderWay.Calls)
		select {
		case <-ctx.Done():
			return
		case <-time.After(nodeLook):
		}
	}
}

func drained(now api.NodeState, _ uint64) bool { return now.UnderWay == (api.UnderWay{}) }

func newNodePause(a *app) *cobra.Command {
	o := &nodeOrder{name: client.Pause, settled: drained}
	c := a.orderCommand(o, &cobra.Command{
		Short: "Suspend a node: it takes no commands and leads nothing, until it is resumed",
		Long: `Hands leadership over if the node has it, and then closes its intake: commands are
refused with INTAKE_CLOSED and clients go on to another node. Reads are answered, and
the node applies what the others commit, so it can be resumed at any time. It stays
suspended over restarts. When nobody takes leadership over, the node goes on as it was.

Tool calls that it has begun end by themselves; --drain says how long to watch that.`,
		Example: `  omni node pause n2 --reason 'new disks'
  omni node pause n2 --dry-run`,
	})
	c.Flags().DurationVar(&o.wait, "drain", 10*time.Second, "how long to wait for what is under way; 0 does not wait")
	return c
}

func newNodeEstop(a *app) *cobra.Command {
	o := &nodeOrder{name: client.Estop, settled: drained}
	c := a.orderCommand(o, &cobra.Command{
		Short: "Suspend a node, whether or not another can take over",
		Long: `The order is put on record first, which takes at most 2 seconds; where that cannot be, it
is carried out without then, if you are on the node's machine. The node's intake is
closed, and leadership is handed over after that; as long as nobody takes it, the node
leads and does nothing: the cluster takes no commands, runs no ticks and calls no tools.
Calls that have begun end by themselves. The node stays suspended over restarts, until
omni node resume.`,
		Example: `  omni node estop n2 --reason 'it sends what it should not'`,
	})
	c.Flags().DurationVar(&o.wait, "drain", 0, "how long to wait for what is under way; 0 does not wait")
	return c
}

func newNodeResume(a *app) *cobra.Command {
	return a.orderCommand(&nodeOrder{name: client.Resume}, &cobra.Command{
		Short: "Let a suspended node go on",
		Long: `Opens the intake of a node that was paused or stopped by an emergency stop. It is refused
while a required component of the node is not healthy.`,
		Example: `  omni node resume n2 --reason 'disks are in'`,
	})
}

func newNodeRestart(a *app) *cobra.Command {
	o := &nodeOrder{name: client.Restart, settled: func(now api.NodeState, boot uint64) bool {
		return now.Boot > boot && now.State != "Created" && now.State != "Starting" && now.State != "Backoff"
	}}
	c := a.orderCommand(o, &cobra.Command{
		Short: "Stop a node's process in order, and start it anew",
		Long: `The node hands leadership over, ends what is under way and stops; then the same program
begins in the same process, with the same flags. A node that is suspended comes back
suspended.`,
		Example: `  omni node restart n2 --reason 'new certificate'`,
	})
	c.Flags().DurationVar(&o.wait, "wait", 30*time.Second, "how long to wait until it is back; 0 does not wait")
	return c
}
