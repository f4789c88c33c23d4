package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newClusterCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "cluster",
		Short: "The nodes: who leads, are they alike; add, replace and remove them; stop everything",
		Args:  onlySubcommands,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newClusterStatus(a), newClusterList(a), newClusterJoin(a), newClusterAdd(a), newClusterPromote(a), newClusterDemote(a), newClusterRemove(a),
		newClusterRecover(a), newClusterTransfer(a), newClusterEstop(a), newClusterResume(a),
	)
	return c
}

func newClusterStatus(a *app) *cobra.Command {
	var (
		node  string
		alone bool
		wait  awaiting
	)
	c := &cobra.Command{
		Use:   "status",
		Short: "Leader, term, and every node's role, indices, digest and health",
		Long: `Asks one node, which asks the others. Nodes with equal applied index must have
equal digests. The exit code says whether somebody answered, not whether all is
well; with --wait it says that, too.`,
		Example: `  omni cluster status
  omni cluster status --wait --timeout 2m
  omni cluster status -o json | jq -r .leader`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := wait.check(alone); err != nil {
				return err
			}
			var options []client.Option
			if node != "" {
				options = append(options, client.Node(node))
			}
			if alone {
				options = append(options, client.Alone())
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			var (
				status  api.Status
				missing []string
			)
			if wait.whole {
				status, missing, err = wait.until(c.Context(), connection, a.timeout, options)
			} else {
				status, err = connection.Status(c.Context(), options...)
			}
			if err != nil {
				return err
			}
			if err := a.tell.Data(status, func(p *tell.Page) { show.Status(p, status) }); err != nil || len(missing) == 0 {
				return err
			}
			return notWhole(a.timeout, missing)
		},
	}
	c.Flags().StringVar(&node, "node", "", "ask this node, by id or address")
	wait.add(c.Flags())
	c.Flags().BoolVar(&alone, "alone", false, "only what the asked node says of itself; the others are not asked")
	return c
}
