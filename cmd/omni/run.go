package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "run",
		Short: "Runs: a goal, a plan of tasks, and the agent that carries it out",
		Long: `A run has a plan of tasks, which its file gives or a planner makes, and a root
agent, which carries them out one after the other. The run has the agent's id: what
omni agent says of an agent it says of a run's, too.

PLANNING becomes PLANNED when the plan is there, APPLYING when it is started, and
COMPLETED when the last task is done. It can be paused, by an operator or by its
budget's warning, resumed after the last completed task, and killed. What a run
cannot do in its state is refused with INVALID_RUN_TRANSITION, and nothing changes.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddGroup(
		&cobra.Group{ID: groupBegin, Title: "To begin a run:"},
		&cobra.Group{ID: groupWork, Title: "To steer it:"},
		&cobra.Group{ID: groupOperate, Title: "To look at it:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, sub := range commands {
			sub.GroupID = group
			c.AddCommand(sub)
		}
	}
	add(groupBegin, newRunPlan(a), newRunStart(a), newSchemaCommand(a, "run", "run files"))
	add(groupWork, newRunPause(a), newRunResume(a), newRunBudget(a), newRunKill(a))
	add(groupOperate, newRunGet(a), newRunList(a), newRunWatch(a), newRunLedger(a), newRunReplay(a))
	return c
}

// runChanged tells that a command about a run took effect. Where the run is now is
// read at the command's index; that it cannot be read takes nothing back.
func (a *app) runChanged(ctx context.Context, connection *client.Client, what string, done api.Done) error {
	answer := show.RunDone{Done: done}
	if run, err := connection.Run(ctx, done.AgentID, client.Consistency(api.SessionLevel), client.MinIndex(done.Index)); err == nil {
		answer.RunState, answer.Next = run.State, show.Next(run)
	} else {
		a.tell.Say("it is done, but where the run is now could not be read: %v", err)
	}
	return a.tell.Data(answer, func(p *tell.Page) { show.RunChanged(p, what, answer) })
}

// atRest tells that a run goes on only if somebody says so, if at all.
func atRest(run api.Run) bool { return run.State == "PAUSED" || over(run) }

func over(run api.Run) bool {
	return run.State == "COMPLETED" || run.State == "FAILED" || run.State == "KILLED"
}

// followFlags say what a command does when the run that it started goes on.
type followFlags struct{ wait, watch bool }

func (f *followFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until the run has ended or is paused, and show it; exit 1 when it did not complete")
	c.Flags().BoolVar(&f.watch, "watch", false, "show the run to its end, as omni run watch does")
}

func (f *followFlags) check() error {
	if f.wait && f.watch {
		return tell.Usage("--wait ends with a pause, too; --watch shows what happens", "--wait and --watch are both given")
	}
	return nil
}

// follow tells that a command about a run took effect, and what becomes of the run.
func (a *app) follow(ctx context.Context, connection *client.Client, what string, done api.Done, then followFlags) error {
	switch {
	case then.watch:
		return a.watchRun(ctx, connection, done.AgentID, client.MinIndex(done.Index))
	case then.wait:
		a.tell.Say("%s %s, waiting for its end", what, done.AgentID)
		return a.awaitRun(ctx, connection, done)
	}
	return a.runChanged(ctx, connection, what, done)
}

// awaitRun follows a run until it is at rest, shows it, and says with its error that
// it did not complete.
func (a *app) awaitRun(ctx context.Context, connection *client.Client, done api.Done) error {
	run, err := connection.AwaitRun(ctx, done.AgentID, atRest, client.MinIndex(done.Index))
	if err != nil {
		return err
	}
	if err := a.tell.Data(run, func(p *tell.Page) { show.Run(p, run) }); err != nil {
		return err
	}
	return ofRun(run)
}

// ofRun is what a command that waited for a run ends with: nothing for one that
// completed.
func ofRun(run api.Run) error {
	if run.State == "COMPLETED" {
		return nil
	}
	problem := &tell.Problem{Exit: api.ExitRefused, Code: tell.CodeRunFailed, Message: "run " + run.RunID + " is " + run.State, Hint: show.Next(run)}
	if run.State == "PAUSED" {
		problem.Code = tell.CodeRunPaused
	}
	if run.Last != nil {
		problem.Message += ": " + show.Cause(run.Last)
	}
	return problem
}
