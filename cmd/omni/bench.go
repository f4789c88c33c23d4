package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/bench"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

func newBenchCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Load a running cluster and measure it",
		Long: `Measures throughput and latency of a running cluster. Latencies are corrected for
coordinated omission: a stall counts for every operation that it would have met.
The load and the cluster share the machine if they run on one.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBenchCommands(a), newBenchSteps(a), newBenchReads(a), newBenchTools(a))
	return c
}

// benchmark is what one subcommand runs.
type benchmark func(ctx context.Context, o bench.Options) (bench.Report, error)

// newBenchmark makes a subcommand; the caller adds flags of its own, and check
// judges them.
func newBenchmark(a *app, use, short, long string, o *bench.Options, clients int, run benchmark, check func() error) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Long: long,
		Example: "  omni bench " + use + " --duration 10s -o json",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkBench(*o); err != nil {
				return err
			}
			if err := check(); err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			o.Client = connection
			a.tell.Say("%d clients, %v after %v of warm-up", o.Clients, o.Duration, o.Warmup)
			report, err := run(c.Context(), *o)
			if err != nil {
				return err
			}
			if err := a.tell.Data(report, func(p *tell.Page) { show.Bench(p, report) }); err != nil {
				return err
			}
			if report.Count == 0 {
				return tell.NotHeld("nothing succeeded: %s", report.First)
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.IntVar(&o.Clients, "clients", clients, "how many ask at the same time")
	flags.DurationVar(&o.Duration, "duration", 10*time.Second, "how long to measure")
	flags.DurationVar(&o.Warmup, "warmup", time.Second, "how long before that is not measured")
	return c
}

func checkBench(o bench.Options) error {
	switch {
	case o.Clients < 1 || o.Clients > 10_000:
		return tell.Usage("", "--clients is %d, must be 1 to 10000", o.Clients)
	case o.Duration < 100*time.Millisecond || o.Duration > time.Hour:
		return tell.Usage("", "--duration is %v, must be 100ms to 1h", o.Duration)
	case o.Warmup < 0 || o.Warmup > time.Hour:
		return tell.Usage("", "--warmup is %v, must be 0s to 1h", o.Warmup)
	case o.Rate < 0 || o.Rate > 10_000_000:
		return tell.Usage("", "--rate is %v, must be 0 to 10000000", o.Rate)
	}
	return nil
}

func addRateFlag(c *cobra.Command, o *bench.Options) {
	c.Flags().Float64Var(&o.Rate, "rate", 0, "operations per second (an open loop); 0 is as many as there can be (a closed one)")
}

func newBenchCommands(a *app) *cobra.Command {
	var o bench.Options
	var kind string
	c := newBenchmark(a, "commands", "Durable commands",
		`Sends commands, each answered when a majority has it on disk and the kernel has
applied it. The payload is a value of --value-size bytes. With --kind define each
makes an agent, which stays; with --kind submit they are instructions for agents
that wait for them, and are ended afterwards. With --batch they go through the
batch endpoint.`,
		&o, 64, bench.Commands, func() error {
			o.Kind = bench.Kind(kind)
			switch {
			case o.Kind != bench.Define && o.Kind != bench.Submit:
				return tell.Usage("", "--kind is %q, must be define or submit", kind)
			case o.Batch < 0 || o.Batch > api.MaxBatchCommands:
				return tell.Usage("", "--batch is %d, must be 0 to %d", o.Batch, api.MaxBatchCommands)
			case o.Kind == bench.Define && (o.ValueBytes < 0 || o.ValueBytes > maxDefineValue):
				return tell.Usage("larger ones with --kind submit", "--value-size is %d, must be 0 to %d", o.ValueBytes, maxDefineValue)
			case o.ValueBytes < 0 || o.ValueBytes > maxSubmitValue:
				return tell.Usage("", "--value-size is %d, must be 0 to %d", o.ValueBytes, maxSubmitValue)
			}
			return nil
		})
	c.Flags().IntVar(&o.ValueBytes, "value-size", 256, "bytes of each command's payload")
	c.Flags().IntVar(&o.Batch, "batch", 0, "commands of one request; 0 is one by one")
	c.Flags().StringVar(&kind, "kind", string(bench.Define), "define or submit")
	addRateFlag(c, &o)
	return c
}

// What one command of each kind may carry, less what goes around it.
const (
	maxDefineValue = 4096
	maxSubmitValue = 60_000
)

func newBenchSteps(a *app) *cobra.Command {
	var o bench.Options
	c := newBenchmark(a, "steps", "Durable tool steps of agents in parallel",
		`Each client has an agent that runs instructions of --steps calls of the tool
echo, one after the other. A step is one call whose result is committed and
applied. per_second counts steps; the latency is that of a whole instruction,
from submitting it to seeing its result in the log.`,
		&o, 256, bench.Steps, func() error {
			if o.Steps < 1 || o.Steps > 1000 {
				return tell.Usage("", "--steps is %d, must be 1 to 1000", o.Steps)
			}
			return nil
		})
	c.Flags().IntVar(&o.Steps, "steps", 50, "calls of one instruction")
	return c
}

func newBenchReads(a *app) *cobra.Command {
	var o bench.Options
	c := newBenchmark(a, "reads", "Reads of one agent, spread over the nodes", "", &o, 64, bench.Reads, func() error { return nil })
	c.Long = "Reads one agent again and again, at every node in turn."
	c.Flags().StringVar(&o.Consistency, "consistency", api.Linearizable, "linearizable, session or stale")
	addRateFlag(c, &o)
	return c
}
