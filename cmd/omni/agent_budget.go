package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAgentBudget(a *app) *cobra.Command {
	var how reading
	var asked limitFlags
	c := &cobra.Command{
		Use:   "budget ID",
		Short: "Show what an agent may spend and has spent, or give it other limits",
		Long: `An agent that was given a budget holds an account; agents below it draw on it too.
What a call may come to is reserved before the call is made, and what it came to
is settled, in the account of the agent and in every one above. A call for which
there is no room now waits for others to come to less; one for which there never
will be is BUDGET_EXCEEDED.

With a flag the account that the agent holds itself gets another limit, which may
not be below what is spent and reserved. The change is on record, with its reason.`,
		Example: `  omni agent budget 018f4e5c-0000-7000-8000-000000000001
  omni agent budget 018f4e5c-0000-7000-8000-000000000001 --usd 2.50 --reason "the pages are longer than expected"
  omni agent budget 018f4e5c-0000-7000-8000-000000000001 --tokens 500000 --time none -o json`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			changes, err := asked.given()
			if err != nil {
				return err
			}
			if !changes {
				return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.Agent, error) {
					return connection.Agent(ctx, args[0], options...)
				}, show.Budget)
			}
			cmd, err := asked.command(args[0])
			if err != nil {
				return err
			}
			return a.change(c, "changed the budget of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.SetBudget(ctx, cmd)
			})
		},
	}
	asked.add(c)
	how.addFlags(c)
	return c
}
