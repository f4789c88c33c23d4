package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

func newAgentHistory(a *app) *cobra.Command {
	var how reading
	var from uint64
	c := &cobra.Command{
		Use:   "history ID",
		Short: "Show every transition of an agent, read back from the log",
		Example: `  omni agent history 018f4e5c-0000-7000-8000-000000000001
  omni agent history 018f4e5c-0000-7000-8000-000000000001 --node n2 -o json`,
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
			page, err := connection.AllHistory(c.Context(), args[0], api.HistoryQuery{From: from}, options...)
			if err != nil {
				return err
			}
			return a.tell.Data(page, func(p *tell.Page) { show.History(p, page) })
		},
	}
	c.Flags().Uint64Var(&from, "from", 0, "only from this busSeq on")
	how.addFlags(c)
	return c
}
