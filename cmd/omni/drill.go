package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newDrillCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "drill",
		Short: "Hurt a dev cluster on purpose, and measure how it gets over it",
		Long: `Runs on the dev cluster in --data-dir, or starts one of its own in a temporary
directory. While clients write at a fixed pace, each round takes the leader away
and measures the time until another leads and until the first write is accepted.
At the end every acknowledged write must be there exactly once, and all nodes
must have the same digest; otherwise the exit code is 1.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newDrill(a, drill.KillLeader, "SIGKILL the leader, round by round",
			"The leader's process is killed; whoever runs the cluster starts it again."),
		newDrill(a, drill.PauseLeader, "SIGSTOP the leader for 1 to 10 heartbeats, round by round",
			"The leader's process is paused and goes on afterwards, not knowing that time went\nby. Meanwhile readers check that no linearizable read misses a write that was\nacknowledged before it began."),
		newDrill(a, drill.Transfer, "Hand leadership over, round by round",
			"Leadership goes to the best follower in good order."),
	)
	return c
}

const (
	defaultRounds    = 5
	defaultLoad      = 16
	defaultRate      = 400
	defaultHeartbeat = 300 * time.Millisecond
	defaultWait      = 20 * time.Second
)

func newDrill(a *app, kind drill.Kind, short, long string) *cobra.Command {
	o := drill.Options{Kind: kind}
	c := &cobra.Command{
		Use:     string(kind) + " [-- SERVER-FLAGS]",
		Short:   short,
		Long:    long,
		Example: "  omni drill " + string(kind) + " --rounds 20",
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkDrill(c, args, a, o); err != nil {
				return err
			}
			report, err := a.drill(c.Context(), o, args)
			if err != nil {
				return err
			}
			if err := a.tell.Data(report, func(p *tell.Page) { show.Drill(p, report) }); err != nil {
				return err
			}
			if broken := report.Broken(); len(broken) > 0 {
				return tell.NotHeld("%s", strings.Join(broken, "; "))
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.IntVar(&o.Rounds, "rounds", defaultRounds, "how often")
	flags.IntVar(&o.Clients, "load", defaultLoad, "clients that write")
	flags.IntVar(&o.Rate, "rate", defaultRate, "writes per second, of all clients together")
	flags.DurationVar(&o.Timeout, "wait", defaultWait, "longest wait for an outcome, and for the cluster to be well")
	if kind == drill.PauseLeader {
		flags.DurationVar(&o.Heartbeat, "heartbeat", defaultHeartbeat, "the nodes' heartbeat timeout: pauses are 1 to 10 of these")
	}
	return c
}

func checkDrill(c *cobra.Command, args []string, a *app, o drill.Options) error {
	switch {
	case len(args) > 0 && c.ArgsLenAtDash() != 0:
		return tell.Usage("flags for the servers come after --", "%q is one argument too many", args[0])
	case len(args) > 0 && a.dataDir != "":
		return tell.Usage("give them to the omni dev that started it", "the servers in %s run already", a.dataDir)
	case len(a.servers) > 0:
		return tell.Usage("name its directory: --data-dir D", "a drill needs the processes of a dev cluster, not addresses")
	case o.Rounds < 1 || o.Rounds > 1000:
		return tell.Usage("", "--rounds is %d, must be 1 to 1000", o.Rounds)
	case o.Clients < 1 || o.Clients > 1000:
		return tell.Usage("", "--load is %d, must be 1 to 1000", o.Clients)
	case o.Rate < 1 || o.Rate > 100_000:
		return tell.Usage("", "--rate is %d, must be 1 to 100000", o.Rate)
	case o.Kind == drill.PauseLeader && (o.Heartbeat < time.Millisecond || o.Heartbeat > time.Minute):
		return tell.Usage("", "--heartbeat is %v, must be 1ms to 1m", o.Heartbeat)
	case o.Timeout < time.Second:
		return tell.Usage("", "--wait is %v, must be at least 1s", o.Timeout)
	}
	return nil
}

// drill runs on the cluster that the call names, or on one of its own.
func (a *app) drill(ctx context.Context, o drill.Options, serverFlags []string) (report drill.Report, err error) {
	o.Talk = func(sentence string) { a.tell.Say("%s", sentence) }
	if a.dataDir != "" {
		if o.Nodes, err = dev.Attach(a.dataDir); err != nil {
			return report, err
		}
	} else {
		a.tell.Say("starting a dev cluster for the drill")
		cluster, err := dev.Start(ctx, dev.Options{KernelID: a.kernel, ServerFlags: serverFlags})
		if err != nil {
			return report, err
		}
		defer func() { err = errors.Join(err, cluster.Stop()) }()
		o.Nodes = cluster
	}
	return drill.Run(ctx, o)
}
