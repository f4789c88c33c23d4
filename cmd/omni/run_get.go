package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunGet(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "get ID",
		Short: "Show one run, with its tasks and what they came to",
		Example: `  omni run get 018f4e5c-0000-7000-8000-000000000001
  omni run get 018f4e5c-0000-7000-8000-000000000001 -o json | jq '.tasks[] | {name, state, result}'`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.Run, error) {
				return connection.Run(ctx, args[0], options...)
			}, show.Run)
		},
	}
	how.addFlags(c)
	return c
}
