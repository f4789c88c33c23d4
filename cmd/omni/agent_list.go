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

func newAgentList(a *app) *cobra.Command {
	var how reading
	var state, after string
	var labels []string
	var limit int
	c := &cobra.Command{
		Use:   "list",
		Short: "List agents",
		Example: `  omni agent list --state WAITING
  omni agent list --label team=blue --label tier=gold -o json | jq -r '.agents[].agent_id'`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := api.AgentQuery{State: strings.ToUpper(state), After: after}
			var err error
			if query.Labels, err = parseLabels(labels); err != nil {
				return err
			}
			if limit < 1 {
				return tell.Usage("", "--limit is %d, must be at least 1", limit)
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
			page, err := listAgents(c.Context(), connection, query, limit, options)
			if err != nil {
				return err
			}
			return a.tell.Data(page, func(p *tell.Page) { show.Agents(p, page) })
		},
	}
	c.Flags().StringVar(&state, "state", "", "only agents in this state, such as ACTIVE")
	c.Flags().StringArrayVar(&labels, "label", nil, "only agents with this label, k=v; repeatable")
	c.Flags().IntVar(&limit, "limit", 1000, "at most so many")
	c.Flags().StringVar(&after, "after", "", "go on after this agent id, as next said")
	how.addFlags(c)
	return c
}

func parseLabels(pairs []string) (map[string]string, error) {
	labels := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, tell.Usage("for example --label team=blue", "--label is %q, must be k=v", pair)
		}
		if _, again := labels[key]; again {
			return nil, tell.Usage("", "--label names %q twice", key)
		}
		labels[key] = text
	}
	return labels, nil
}

// listAgents gathers pages until there are limit agents or no more. The
// position in the cluster's history is that of the oldest page.
func listAgents(
	ctx context.Context, connection *client.Client, query api.AgentQuery, limit int, options []client.Option,
) (api.AgentPage, error) {
	all := api.AgentPage{Agents: []api.AgentSummary{}}
	for first := true; ; first = false {
		query.Limit = min(limit-len(all.Agents), api.MaxPageItems)
		page, err := connection.Agents(ctx, query, options...)
		if err != nil {
			return all, err
		}
		if first {
			all.As = page.As
		}
		all.Agents = append(all.Agents, page.Agents...)
		all.Next, query.After = page.Next, page.Next
		if page.Next == "" || len(all.Agents) >= limit {
			return all, nil
		}
	}
}
