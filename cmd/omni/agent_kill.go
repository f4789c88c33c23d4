package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
)

func newAgentKill(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "kill ID",
		Short: "End an agent, whatever it is doing",
		Long: `Any state but DEFINED and TERMINATED becomes TERMINATED, in one step, with the
failure KILLED. Calls that are under way are withdrawn.`,
		Example: `  omni agent kill 018f4e5c-0000-7000-8000-000000000001 --reason "ran wild"`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.Kill(c.Context(), event.Kill{Agent: args[0], Reason: reason})
			if err != nil {
				return err
			}
			return a.tell.Data(done, func(p *tell.Page) { show.Done(p, "killed", done) })
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "kept in the record")
	return c
}
