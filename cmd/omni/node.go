package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newNodeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "node",
		Short: "One node: where it stands, what is on record of that; pause and resume it",
		Args:  onlySubcommands,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newNodeStatus(a), newNodePause(a), newNodeResume(a), newNodeEstop(a), newNodeRestart(a), newNodeJournal(a))
	return c
}

// atNode are the options of a call to the node that the arguments name, if they
// do.
func atNode(args []string) []client.Option {
	if len(args) == 0 {
		return nil
	}
	return []client.Option{client.Node(args[0])}
}

func newNodeStatus(a *app) *cobra.Command {
	var (
		healthy bool
		files   []string
	)
	c := &cobra.Command{
		Use:   "status [NODE]",
		Short: "A node's state and why, its components, and what happened before it started",
		Long: `Asks one node about itself: where it stands in its lifecycle, since when and why,
whether it takes commands, how its long-lived parts are, and how the process before
this one ended. NODE is its id or its address; without it, whichever node answers.

What the nodes know of each other is in: omni cluster status.`,
		Example: `  omni node status n2
  omni node status 127.0.0.1:7701 -o json | jq -r .state
  omni node status n2 --uses tls/node-n2.pem              # has it taken up the new certificate?
  omni node status --healthy --server 127.0.0.1:7700      # for a container's health check`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			var state api.NodeState
			if len(files) > 0 {
				state, err = a.awaitFiles(c.Context(), connection, files, atNode(args))
			} else {
				state, err = connection.NodeState(c.Context(), atNode(args)...)
			}
			if err != nil {
				return err
			}
			if err := a.tell.Data(state, func(p *tell.Page) { show.Node(p, state) }); err != nil || !healthy || state.Healthy {
				return err
			}
			return tell.NotHeld("%s is not healthy: %s", state.Node, state.Reason)
		},
	}
	c.Flags().BoolVar(&healthy, "healthy", false, "fail, with exit code 1, when the node is not healthy")
	c.Flags().StringArrayVar(&files, "uses", nil, "wait, up to --timeout, until the node has the certificates of this file in use, and trusts no other authority than those of a ca.pem; exit 1 when it does not come to that; repeatable")
	return c
}
