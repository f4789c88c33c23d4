package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunPlan(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Make a run; it waits until it is started",
		Long: `The file says what the run is for, who carries it out, and its tasks or the planner
that makes them. A plan that is given makes the run PLANNED at once; a planner takes
its time, and --wait waits for it. A run whose file says start: true is started as
soon as its plan is there.`,
		Example: `  omni run plan -f run.yaml
  omni run plan -f - --wait < run.yaml`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return f.plan(c, a, func(connection *client.Client, done api.Done) error {
				if !f.wait {
					return a.runChanged(c.Context(), connection, "planned", done)
				}
				a.tell.Say("made %s, waiting for its plan", done.AgentID)
				return f.awaitPlan(c, a, connection, done)
			})
		},
	}
	f.add(c)
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until the plan is there; exit 1 when the planner failed")
	return c
}

func newRunStart(a *app) *cobra.Command {
	var f runFlags
	var then followFlags
	c := &cobra.Command{
		Use:   "start ID | -f FILE",
		Short: "Carry out the plan of a run, or of a file's",
		Long: `Starts a run that is PLANNED; or makes one of a file and starts it as soon as its
plan is there, in one command: all of it or nothing.

With --wait it waits until the run has ended or is paused, and shows it; with --watch
it shows it all the way to its end, as omni run watch does. The exit code is then 0
only if the run is COMPLETED.`,
		Example: `  omni run start 018f4e5c-0000-7000-8000-000000000001 --reason "reviewed"
  omni run start -f run.yaml --watch`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && f.file != "":
				return tell.Usage("usage: "+c.UseLine(), "%s and -f %s are both given: start a run that is there, or one of a file", args[0], f.file)
			case len(args) == 1 && c.Flags().Changed("config"):
				return tell.Usage("give it to omni run plan", "--config is for a run that is made of a file")
			case len(args) == 1:
				return a.steerRun(c, "started", then, func(connection *client.Client) (api.Done, error) {
					return connection.StartRun(c.Context(), event.StartRun{Run: args[0], Reason: f.reason})
				})
			}
			if err := then.check(); err != nil {
				return err
			}
			f.start = true
			return f.plan(c, a, func(connection *client.Client, done api.Done) error {
				return a.follow(c.Context(), connection, "started", done, then)
			})
		},
	}
	f.add(c)
	then.add(c)
	return c
}

// runFlags are those of commands that make a run of a file.
type runFlags struct {
	file, config, reason string
	start, wait          bool
}

func (f *runFlags) add(c *cobra.Command) {
	addFileFlag(c, &f.file, "run file, YAML or JSON; - is stdin")
	c.Flags().StringVar(&f.config, "config", "", "JSON that planner and tasks see as input.config, instead of the file's")
	addReasonFlag(c, &f.reason)
}

// plan sends the file's run, and hands on that it is there.
func (f *runFlags) plan(c *cobra.Command, a *app, then func(connection *client.Client, done api.Done) error) error {
	file, command, err := readRun(f.file, c.InOrStdin())
	if err != nil {
		return err
	}
	if c.Flags().Changed("config") {
		if command.Config, err = jsonArg(c, "--config", f.config); err != nil {
			return err
		}
	}
	if f.reason != "" {
		command.Reason = f.reason
	}
	command.Start = command.Start || f.start
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	done, err := connection.PlanRun(c.Context(), command)
	if err != nil {
		return inFile(err, file, "")
	}
	return then(connection, done)
}

// awaitPlan waits until a run is no longer PLANNING.
func (f *runFlags) awaitPlan(c *cobra.Command, a *app, connection *client.Client, done api.Done) error {
	run, err := connection.AwaitRun(c.Context(), done.AgentID, func(r api.Run) bool { return r.State != "PLANNING" }, client.MinIndex(done.Index))
	if err != nil {
		return err
	}
	if err := a.tell.Data(run, func(p *tell.Page) { show.Run(p, run) }); err != nil {
		return err
	}
	if run.State == "FAILED" || run.State == "KILLED" {
		return ofRun(run)
	}
	return nil
}
