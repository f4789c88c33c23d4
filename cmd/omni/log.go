package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newLogCommand(a *app) *cobra.Command {
	var query api.LogQuery
	var follow bool
	var node string
	c := &cobra.Command{
		Use:   "log",
		Short: "The execution log: everything that ever happened, in order",
		Long: `Prints records of the execution log, oldest first, up to the present end; with
--follow it goes on with what comes. With -o json one record a line, which is the
same for ever, on every node; lines for people also say what a step evaluated and
which grant decided, where the node finds that.`,
		Example: `  omni log --agent 018f4e5c-0000-7000-8000-000000000001
  omni log --from 1000 --limit 20
  omni log export > log.bin && omni log verify log.bin`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if query.Limit < 0 {
				return tell.Usage("", "--limit is %d, must not be negative", query.Limit)
			}
			var options []client.Option
			if node != "" {
				options = append(options, client.Node(node))
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			query.Notes = query.Notes || !a.tell.IsJSON()
			limit := query.Limit
			query.Limit = api.MaxPageItems
			records := connection.Records(c.Context(), query, options...)
			if follow {
				watch := api.WatchQuery{From: max(query.From, 1), Agent: query.Agent, Notes: query.Notes}
				records = connection.Watch(c.Context(), watch, options...)
			}
			return a.printRecords(c.Context(), atMost(limit, records))
		},
	}
	c.Flags().StringVar(&query.Agent, "agent", "", "only records of this agent")
	c.Flags().Uint64Var(&query.From, "from", 0, "begin at this busSeq")
	c.Flags().IntVar(&query.Limit, "limit", 0, "end after so many records; 0 is never")
	c.Flags().BoolVar(&follow, "follow", false, "go on with what comes")
	c.Flags().BoolVar(&query.Notes, "notes", false, "add to JSON what numbers in records stand for, where the node finds it")
	c.Flags().StringVar(&node, "node", "", "ask this node only, by id or address")
	c.AddCommand(newLogArchive(a), newLogExport(a), newLogVerify(a), newLogAudit(a), newLogProve(a), newLogCheck(a))
	return c
}
