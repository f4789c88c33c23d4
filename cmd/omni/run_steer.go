package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// whyFlags say why a run is steered, and what kind of reason that is (RU-2).
type whyFlags struct{ reason, trigger string }

func (f *whyFlags) add(c *cobra.Command) {
	addReasonFlag(c, &f.reason)
	c.Flags().StringVar(&f.trigger, "trigger", "operator", "what kind of reason it is, kept in the record: operator, budget, governance, security or runaway_cost")
}

func newRunPause(a *app) *cobra.Command {
	var why whyFlags
	var force, wait bool
	c := &cobra.Command{
		Use:   "pause ID",
		Short: "Let a run begin nothing new",
		Long: `The running task ends first; then the run is PAUSED. With --force the task is frozen
at once, and the calls that it waits for are taken back: when the run is resumed it
asks for them again, so one that was under way may be made twice.

While its plan is being made a run is paused as soon as the plan is there.
omni run resume takes back a pause that has not taken effect.`,
		Example: `  omni run pause 018f4e5c-0000-7000-8000-000000000001 --reason "looking at the figures"
  omni run pause 018f4e5c-0000-7000-8000-000000000001 --force --trigger governance`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.PauseRun(c.Context(), event.PauseRun{Run: args[0], Reason: why.reason, Trigger: why.trigger, Force: force})
			if err != nil {
				return err
			}
			if !wait {
				return a.runChanged(c.Context(), connection, "asked for a pause of", done)
			}
			a.tell.Say("asked for a pause of %s, waiting for it", done.AgentID)
			return a.awaitPause(c, connection, done)
		},
	}
	why.add(c)
	c.Flags().BoolVar(&force, "force", false, "freeze the running task, and take back what it waits for")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the run is PAUSED, and show it; exit 1 when it ended before, or the pause was taken back")
	return c
}

// awaitPause waits until a pause that was asked for has taken effect, or will not.
func (a *app) awaitPause(c *cobra.Command, connection *client.Client, done api.Done) error {
	run, err := connection.AwaitRun(c.Context(), done.AgentID, func(r api.Run) bool { return atRest(r) || r.Pausing == "" }, client.MinIndex(done.Index))
	if err != nil {
		return err
	}
	if err := a.tell.Data(run, func(p *tell.Page) { show.Run(p, run) }); err != nil {
		return err
	}
	if run.State != "PAUSED" {
		return tell.Refused(show.Next(run), "run %s was not paused: it is %s", run.RunID, run.State)
	}
	return nil
}

func newRunResume(a *app) *cobra.Command {
	var why whyFlags
	var then followFlags
	c := &cobra.Command{
		Use:   "resume ID",
		Short: "Let a paused run go on",
		Long: `The run goes on after the last completed task. A task that was frozen asks again for
what it waited for. A pause that has not taken effect is taken back.

After a warning of its budget give the run more first, with omni run budget: the
warning comes once for each value of a limit, but the limit stays where it is.`,
		Example: `  omni run resume 018f4e5c-0000-7000-8000-000000000001 --reason "approved"
  omni run resume 018f4e5c-0000-7000-8000-000000000001 --wait`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.steerRun(c, "resumed", then, func(connection *client.Client) (api.Done, error) {
				return connection.ResumeRun(c.Context(), event.ResumeRun{Run: args[0], Reason: why.reason, Trigger: why.trigger})
			})
		},
	}
	why.add(c)
	then.add(c)
	return c
}

func newRunKill(a *app) *cobra.Command {
	var why whyFlags
	c := &cobra.Command{
		Use:   "kill ID",
		Short: "End a run and its root agent, whatever they are doing",
		Long: `The run is KILLED, and its root agent TERMINATED with all below it. Calls that are
under way are withdrawn; what they cost is settled when it is known. A run whose plan
is not there yet is FAILED instead, with the reason killed.`,
		Example: `  omni run kill 018f4e5c-0000-7000-8000-000000000001 --trigger security --reason "it reads what it must not"`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.steerRun(c, "killed", followFlags{}, func(connection *client.Client) (api.Done, error) {
				return connection.KillRun(c.Context(), event.KillRun{Run: args[0], Reason: why.reason, Trigger: why.trigger})
			})
		},
	}
	why.add(c)
	return c
}

// steerRun sends one command about a run, and tells where the run is, or follows it.
func (a *app) steerRun(c *cobra.Command, what string, then followFlags, send func(connection *client.Client) (api.Done, error)) error {
	if err := then.check(); err != nil {
		return err
	}
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	done, err := send(connection)
	if err != nil {
		return err
	}
	return a.follow(c.Context(), connection, what, done, then)
}
