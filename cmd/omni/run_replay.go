package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunReplay(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "replay ID [FILE]",
		Short: "Run a run's ticks again from its ledger, and derive its records again",
		Long: `Reads the ledger of a run and runs every tick of every agent that worked for it
again, with the results that the ledger has, as omni replay does for one agent. Then
the run's own records are derived again: its definition and plan from the command
that asked for it, or from what the planner came to; each task's input from the
results before it; each begin, end, pause and resume from what led to it. No tool is
called, whatever happens.

Without a file the cluster sends the ledger. A file is what omni run ledger --export,
omni log export or omni backup create wrote; - is stdin. No cluster is needed then.

The first record that differs, or that nothing leads to, ends it: both sides are
printed, and the exit code is 1.`,
		Example: `  omni run replay 018f4e5c-0000-7000-8000-000000000001
  omni run replay 018f4e5c-0000-7000-8000-000000000001 run.ledger`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if _, ok := flows.ParseID(args[0]); !ok {
				return tell.Usage("see what there is with: omni run list", "ID is %q, must be a run's id", args[0])
			}
			file := ""
			if len(args) == 2 {
				file = args[1]
			}
			options, err := how.options(c)
			if err != nil {
				return err
			}
			from, err := a.openLedger(c.Context(), args[0], file, c.InOrStdin(), options)
			if err != nil {
				return err
			}
			defer from.Close()
			return a.replayRun(from, args[0])
		},
	}
	how.addFlags(c)
	return c
}

// openLedger gives a run's ledger: of a file, or as the cluster has it.
func (a *app) openLedger(ctx context.Context, run, file string, stdin io.Reader, options []client.Option) (io.ReadCloser, error) {
	switch file {
	case "":
	case "-":
		return io.NopCloser(stdin), nil
	default:
		f, err := os.Open(file)
		if err != nil {
			return nil, tell.Usage("", "%v", err)
		}
		a.file = file
		return f, nil
	}
	connection, err := a.connect()
	if err != nil {
		return nil, err
	}
	body, err := connection.OpenLedger(ctx, run, options...)
	if err != nil {
		connection.Close()
		return nil, err
	}
	return &live{body, connection}, nil
}

// replayRun replays what is read.
func (a *app) replayRun(from io.Reader, id string) error {
	began := time.Now()
	meter := a.tell.Meter()
	defer meter.Done()
	var run *replay.WholeRun
	make := func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
		run = replay.NewWholeRun(no, c, a.evaluators, find)
		return run
	}
	origin, err := history.OfRun(from, id, make, func(bytes uint64) {
		meter.Show("%s", show.Bytes(bytes))
	})
	meter.Done()
	found := show.ReplayedRun{RunID: id, Origin: origin.Kind, ClusterID: origin.ClusterID, KernelID: origin.KernelID, Millis: time.Since(began).Milliseconds()}
	var states deviating
	if run != nil {
		found.Stats(run.Stats())
		if root := run.Root(); root != nil {
			states = deviating{state: root.State()}
		}
	}
	var deviation *replay.Deviation
	switch {
	case errors.As(err, &deviation):
		found.Deviation = states.render(deviation)
	case err != nil:
		return unreadable(err)
	case flows.FormatID(run.Stats().Ledger.ID) != id:
		return unreadable(history.ErrOtherRun)
	}
	if err := a.tell.Data(found, func(p *tell.Page) { show.RunReplay(p, &found) }); err != nil {
		return err
	}
	if deviation != nil {
		return tell.NotHeld("%v", deviation)
	}
	return nil
}
