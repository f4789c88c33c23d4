package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
)

// run runs one command line and gives its exit code. The servers that it runs
// know these evaluators.
func run(ctx context.Context, args []string, evaluators flows.Lookup, teller *tell.Teller) api.Exit {
	a := &app{tell: teller, evaluators: evaluators}
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if a.output == string(tell.JSON) {
		teller.Format = tell.JSON // though the call may have failed before enter
	}
	var known *tell.Problem
	if err != nil && !a.entered && !errors.As(err, &known) {
		// What fails before a command begins is the call itself.
		err = tell.Usage("omni help, or omni COMMAND --help", "%v", err)
	}
	if err != nil && a.file != "" && tell.ReportOf(err).Code == tell.CodeNotHeld {
		err = &tell.InFile{Err: err, File: a.file}
	}
	return teller.Fail(err)
}

// newRoot builds the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:               "omni",
		Short:             "A small operating system for agents, replicated",
		Long:              longHelp,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              onlySubcommands,
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
		PersistentPreRunE: func(*cobra.Command, []string) error { return a.enter() },
	}
	a.addFlags(root.PersistentFlags())
	root.AddGroup(
		&cobra.Group{ID: groupBegin, Title: "To begin with:"},
		&cobra.Group{ID: groupWork, Title: "Agents and their log:"},
		&cobra.Group{ID: groupGovern, Title: "Who may do what:"},
		&cobra.Group{ID: groupOperate, Title: "Clusters:"},
		&cobra.Group{ID: groupMeasure, Title: "Tests and measurements:"},
		&cobra.Group{ID: groupMore, Title: "The program itself:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupBegin, newDemoCommand(a), newDevCommand(a))
	add(groupWork, newAgentCommand(a), newRunCommand(a), newLedgerCommand(a), newMemoryCommand(a), newSharedCommand(a), newToolCommand(a), newMCPCommand(a), newLogCommand(a), newReplayCommand(a))
	add(groupGovern, newAuthCommand(a), newPermissionCommand(a), newTokenCommand(a), newEscalationCommand(a), newTaskCommand(a), newAuditCommand(a))
	add(groupOperate, newClusterCommand(a), newTopCommand(a), newNodeCommand(a), newServerCommand(a), newTLSCommand(a), newDebugCommand(a), newBackupCommand(a), newExportCommand(a))
	add(groupMore, newVersionCommand(a), newCompletionCommand(a), newManCommand(a))
	add(groupMeasure, newDrillCommand(a), newBenchCommand(a))
	root.SetHelpCommandGroupID(groupBegin)
	a.noteEntry(root)
	return root
}

// noteEntry makes every command tell that its own code has begun: whatever
// fails before that is the call itself.
func (a *app) noteEntry(c *cobra.Command) {
	if own := c.RunE; own != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			a.entered = true
			return own(c, args)
		}
	}
	for _, sub := range c.Commands() {
		a.noteEntry(sub)
	}
}

const (
	groupBegin   = "begin"
	groupWork    = "work"
	groupGovern  = "govern"
	groupOperate = "operate"
	groupMeasure = "measure"
	groupMore    = "more"
)

const longHelp = `Omni Kernel is a small deterministic operating system for agents. Every node
runs the same kernel over one replicated log, so an agent goes on when the node
that carried it dies.

First steps:

  omni demo                                   see it work, in half a minute
  omni dev                                    three nodes on this machine
  omni agent start -f agent.yaml --wait       run an agent and print its result
  omni agent history ID                       what happened to it, and when
  omni cluster status                         who leads, and are all alike

An agent file says who the agent is, what it may do, and its program; a short
one to copy is examples/hello/agent.yaml.

Every command takes -o json. Exit codes: 0 done, 1 refused (it did not happen),
2 usage, 3 outcome unknown (it may have happened), 4 nobody could be reached.`
