package main

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/bench"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newBenchTools(a *app) *cobra.Command {
	var o bench.Options
	c := &cobra.Command{
		Use:   "tools",
		Short: "What the kernel adds to a call, for each kind of adapter",
		Long: `For each kind of adapter a tool is registered that does nothing, and that this
process serves; it is called directly, and then by agents. With one agent: the median
of a call, from the one before it, beside that of calling the tool directly; the
difference is what the kernel adds, with everything that it writes to disk on three
nodes. With --agents agents: how many calls a second there are. Each is measured for
--duration, for a tool that is not idempotent, whose calls are dispatched by a record
of their own, and for one that is.

The nodes have to be on this machine: the tool listens on its loopback address. For exec
they have to have a directory of programs; without --program it is left out.`,
		Example: `  omni bench tools
  omni bench tools --adapter http --duration 5s -o json`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkBench(o); err != nil {
				return err
			}
			if o.Steps < 1 || o.Steps > 1000 {
				return tell.Usage("", "--steps is %d, must be 1 to 1000", o.Steps)
			}
			for _, kind := range o.Adapters {
				if !slices.Contains(bench.AdapterKinds(), kind) {
					return tell.Usage("", "--adapter is %q, must be one of %s", kind, strings.Join(bench.AdapterKinds(), ", "))
				}
			}
			switch named := c.Flags().Changed("adapter"); {
			case o.Program == "" && !named:
				o.Adapters = slices.DeleteFunc(o.Adapters, func(kind string) bool { return kind == "exec" })
			case o.Program == "" && slices.Contains(o.Adapters, "exec"):
				return tell.Usage("cp /bin/cat DIR/noop, and start the nodes with --exec-dir DIR", "for exec, name a program that gives its input back with --program DIR/noop")
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			o.Client = connection
			reports, err := bench.Tools(c.Context(), o, func(r bench.ToolReport) { a.tell.Say("%s, idempotent %t: done", r.Adapter, r.Idempotent) })
			if err != nil {
				return err
			}
			if err := a.tell.Data(reports, func(p *tell.Page) {
				for _, r := range reports.Tools {
					show.BenchTool(p, r)
				}
			}); err != nil {
				return err
			}
			for _, r := range reports.Tools {
				if r.Count == 0 {
					return tell.NotHeld("%s: nothing succeeded: %s", r.Adapter, r.First)
				}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.Adapters, "adapter", bench.AdapterKinds(), "kinds of adapters, divided by commas")
	flags.StringVar(&o.Program, "program", "", "for exec: a file of the nodes' --exec-dir that gives its input back, such as a copy of cat")
	flags.IntVar(&o.Clients, "agents", 64, "how many call at the same time, when throughput is measured")
	flags.IntVar(&o.Steps, "steps", 20, "calls of one instruction, one after the other")
	flags.DurationVar(&o.Duration, "duration", 3*time.Second, "how long each is measured")
	flags.DurationVar(&o.Warmup, "warmup", time.Second, "how long before that is not measured")
	return c
}
