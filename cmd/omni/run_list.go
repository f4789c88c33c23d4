package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunList(a *app) *cobra.Command {
	var how reading
	var state, after string
	var labels []string
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List runs, in the order in which they were made",
		Example: `  omni run list --state PAUSED
  omni run list --label team=blue -o json | jq -r '.runs[].run_id'`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := api.RunQuery{State: strings.ToUpper(state), After: after}
			var err error
			if query.Labels, err = parseLabels(labels); err != nil {
				return err
			}
			if limit < 1 {
				return tell.Usage("", "--limit is %d, must be at least 1", limit)
			}
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.RunPage, error) {
				return listRuns(ctx, connection, query, limit, options)
			}, show.Runs)
		},
	}
	c.Flags().StringVar(&state, "state", "", "only runs in this state, such as PAUSED")
	c.Flags().StringArrayVar(&labels, "label", nil, "only runs whose root agent has this label, k=v; repeatable")
	c.Flags().IntVar(&limit, "limit", 1000, "at most so many")
	c.Flags().StringVar(&after, "after", "", "go on after this run id, as next said")
	how.addFlags(c)
	return c
}

// listRuns gathers pages until there are limit runs or no more. The position in the
// cluster's history is that of the oldest page.
func listRuns(ctx context.Context, connection *client.Client, query api.RunQuery, limit int, options []client.Option) (api.RunPage, error) {
	all := api.RunPage{Runs: []api.RunSummary{}}
	for first := true; ; first = false {
		query.Limit = min(limit-len(all.Runs), api.MaxPageItems)
		page, err := connection.Runs(ctx, query, options...)
		if err != nil {
			return all, err
		}
		if first {
			all.As = page.As
		}
		all.Runs = append(all.Runs, page.Runs...)
		all.Next, query.After = page.Next, page.Next
		if page.Next == "" || len(all.Runs) >= limit {
			return all, nil
		}
	}
}
