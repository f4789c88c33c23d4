package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newAgentGet(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "get ID",
		Short: "Show one agent",
		Example: `  omni agent get 018f4e5c-0000-7000-8000-000000000001
  omni agent get 018f4e5c-0000-7000-8000-000000000001 --consistency stale --max-lag 200ms -o json`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			options, err := how.options(c)
			if err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			agent, err := connection.Agent(c.Context(), args[0], options...)
			if err != nil {
				return err
			}
			return a.tell.Data(agent, func(p *tell.Page) { show.Agent(p, agent) })
		},
	}
	how.addFlags(c)
	return c
}
