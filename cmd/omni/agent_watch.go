package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAgentWatch(a *app) *cobra.Command {
	var from uint64
	var kinds []string
	var notes bool
	var limit int
	var node string
	c := &cobra.Command{
		Use:   "watch [ID]",
		Short: "Follow what happens, as it happens",
		Long: `Prints records of the execution log as they are committed and applied, in order,
each once, without gaps; of one agent, or of all. It goes on at another node when
its node is gone. With -o json one record a line, which is the same for ever, on
every node; lines for people also say what a step evaluated and which grant
decided, where the node finds that.`,
		Example: `  omni agent watch
  omni agent watch 018f4e5c-0000-7000-8000-000000000001 --kind LIFECYCLE`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if limit < 0 {
				return tell.Usage("", "--limit is %d, must not be negative", limit)
			}
			query := api.WatchQuery{From: from, Kinds: upper(kinds), Notes: notes || !a.tell.IsJSON()}
			if len(args) == 1 {
				query.Agent = args[0]
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
			return a.printRecords(c.Context(), atMost(limit, connection.Watch(c.Context(), query, options...)))
		},
	}
	c.Flags().Uint64Var(&from, "from", 0, "begin at this busSeq; 0 is what comes next")
	c.Flags().StringArrayVar(&kinds, "kind", nil, "only records of this kind, such as LIFECYCLE; repeatable")
	c.Flags().IntVar(&limit, "limit", 0, "end after so many records; 0 is never")
	c.Flags().BoolVar(&notes, "notes", false, "add to JSON what numbers in records stand for, where the node finds it")
	c.Flags().StringVar(&node, "node", "", "ask this node only, by id or address")
	return c
}

func upper(words []string) []string {
	for i := range words {
		words[i] = strings.ToUpper(words[i])
	}
	return words
}
