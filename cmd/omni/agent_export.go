package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newAgentExport(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write one agent's history to stdout, to be replayed offline",
		Long: `Writes the blocks of the log that touch the agent, and those that hold the
programs, grants and environments that its records name: all that omni replay
needs, and nothing of other agents but what happened in the same events. The
agent's own chain is checked on the way. If the stream breaks the export is
incomplete, and the exit code says so.`,
		Example: `  omni agent export 018f4e5c-0000-7000-8000-000000000001 > agent.omni
  omni replay 018f4e5c-0000-7000-8000-000000000001 agent.omni`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if a.tell.RawIsTerminal() {
				return tell.Usage("omni agent export "+args[0]+" > agent.omni", "an export is bytes, not text for a terminal")
			}
			options, err := how.options(c)
			if err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			sum, err := connection.ExportAgent(c.Context(), args[0], a.tell.Raw(), options...)
			if err != nil {
				return err
			}
			a.tell.SayPage(func(p *tell.Page) { show.AgentExport(p, sum) })
			return nil
		},
	}
	how.addFlags(c)
	return c
}
