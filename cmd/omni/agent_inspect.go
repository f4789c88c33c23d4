package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAgentTree(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	c := &cobra.Command{
		Use:   "tree ID",
		Short: "Show an agent and everything that it delegated",
		Long: `Depth first, parents before their children, children in the order in which they
were delegated, with the state of each. Where a token is void, the tree says so:
it may take a moment until everybody below it has ended.`,
		Example: `  omni agent tree 018f4e5c-0000-7000-8000-000000000001
  omni agent tree 018f4e5c-0000-7000-8000-000000000001 -o json | jq -r '.agents[] | select(.state == "FAULTED") | .agent_id'`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.TreePage, error) {
				return connection.Tree(ctx, args[0], api.TreeQuery{After: page.after, Limit: page.limit}, options...)
			}, show.Tree)
		},
	}
	page.add(c, "agent id")
	how.addFlags(c)
	return c
}

func newAgentFaults(a *app) *cobra.Command {
	var how reading
	var from uint64
	c := &cobra.Command{
		Use:   "faults ID",
		Short: "Show what went wrong with an agent, and what was done about it",
		Long: `Failed ticks, transitions to FAULTED, retries that the kernel scheduled, faults
that an operator called transient: all of them, read back from the log.

A TRANSIENT failure is retried by the kernel after a backoff, a few times. A
PERMANENT one leaves a root agent in FAULTED until you decide: abandon it, or
reclassify and recover it.`,
		Example: `  omni agent faults 018f4e5c-0000-7000-8000-000000000001`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.FaultPage, error) {
				return connection.AllFaults(ctx, args[0], api.HistoryQuery{From: from}, options...)
			}, show.Faults)
		},
	}
	c.Flags().Uint64Var(&from, "from", 0, "only from this busSeq on")
	how.addFlags(c)
	return c
}

func newAuditCommand(a *app) *cobra.Command {
	var how reading
	var limit int
	c := &cobra.Command{
		Use:   "audit",
		Short: "Breaches of invariants: the newest of the audit log",
		Long: `The kernel checks its invariants while it runs. What would have broken one did not
happen: the agent that it was on account of was ended, and the root of its tree
is named here. There should be nothing in this list.`,
		Example: `  omni audit
  omni audit -o json | jq .count`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.AuditPage, error) {
				return connection.Audit(ctx, limit, options...)
			}, show.Audit)
		},
	}
	c.Flags().IntVar(&limit, "limit", api.MaxPageItems, "at most so many, the newest; 1 to 1000")
	how.addFlags(c)
	return c
}
