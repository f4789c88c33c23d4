package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newClusterEstop(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "estop --reason WHY",
		Short: "Emergency stop: nothing runs on the whole cluster until it is resumed",
		Long: `Commits that the kernel is suspended, on every node and through every failover.
From that event on no tick runs, no deadline rings and no call is dispatched, and
whatever starts or advances work is refused with KERNEL_SUSPENDED. Taken is what
ends or limits: kill, suspend, expire, abandon, revoking tokens and grants, denying
requests, archiving the log. Reads go on.

Calls that are under way are not cut off: they end, and their results are kept until
the cluster is resumed. Time goes on: deadlines that pass meanwhile ring after that.`,
		Example: `  omni cluster estop --reason "agents delete the wrong rows"
  omni cluster status`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if reason == "" {
				return tell.Usage(`omni cluster estop --reason "why"`, "--reason is needed: whoever finds everything stopped wants to know why")
			}
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.SuspendKernel(ctx, event.SuspendKernel{Reason: reason})
			}, func(p *tell.Page, done api.Done) {
				p.Line("the cluster is %s as of index %d: nothing runs until it is resumed", p.Bad("stopped"), done.Index)
				p.Line("%s", p.Faint("go on with: omni cluster resume"))
			})
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "why everything is stopped, kept in the record")
	return c
}

func newClusterResume(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "resume",
		Short: "End the emergency stop: everything goes on where it was",
		Long: `Commits that the kernel is resumed. Ticks that waited run at once, calls that waited
are made, and deadlines that have passed meanwhile ring: whoever waited for a call that
was not made in time has WAIT_TIMEOUT, from which recovery makes it anew.`,
		Example: `  omni cluster resume
  omni cluster resume --reason "the rows are back"`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.ResumeKernel(ctx, event.ResumeKernel{Reason: reason})
			}, func(p *tell.Page, done api.Done) {
				p.Line("the cluster %s as of index %d", p.Good("goes on"), done.Index)
			})
		},
	}
	addReasonFlag(c, &reason)
	return c
}
