package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunBudget(a *app) *cobra.Command {
	var how reading
	var asked limitFlags
	c := &cobra.Command{
		Use:   "budget ID",
		Short: "Show what a run may spend and has spent, or give it other limits",
		Long: `A run's budget is its root agent's account: what its tasks call, and what agents
below them call, is charged there. The warning pauses the run, once for each value of
a limit; what would exceed a limit fails it with BUDGET_EXCEEDED.

With a flag the limit becomes another one, which may not be below what is spent and
reserved. The change is on record, with its reason and who made it. It does not resume
the run: omni run resume does.`,
		Example: `  omni run budget 018f4e5c-0000-7000-8000-000000000001
  omni run budget 018f4e5c-0000-7000-8000-000000000001 --tokens 500000 --reason "the pages are longer than expected"
  omni run budget 018f4e5c-0000-7000-8000-000000000001 --usd 2.50 --time none -o json`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			changes, err := asked.given()
			if err != nil {
				return err
			}
			if !changes {
				return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.Run, error) {
					return connection.Run(ctx, args[0], options...)
				}, show.RunBudget)
			}
			cmd, err := asked.command(args[0])
			if err != nil {
				return err
			}
			return a.steerRun(c, "changed the budget of", followFlags{}, func(connection *client.Client) (api.Done, error) {
				if _, err := connection.Run(c.Context(), args[0]); err != nil { // any agent has an account, and this is about runs
					return api.Done{}, err
				}
				return connection.SetBudget(c.Context(), cmd)
			})
		},
	}
	asked.add(c)
	c.Flags().StringVar(&asked.micros, "micro-usd", "", "the same limit in millionths of a US dollar, or none")
	how.addFlags(c)
	return c
}
