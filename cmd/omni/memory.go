package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newMemoryCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "memory",
		Short: "What agents remember",
		Long: `Every agent has a memory of its own, which outlives its ticks and is kept a while
after its end: values under keys such as orders/17. Programs write it with WRITE;
here you look at it.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newMemoryGet(a), newMemoryList(a))
	return c
}

func newMemoryGet(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "get AGENT KEY",
		Short: "Show one value of an agent's memory",
		Long: `Prints the value alone, as JSON, so that it can be piped. With -o json also its
version, and who wrote it when.`,
		Example: `  omni memory get 018f4e5c-0000-7000-8000-000000000001 orders/17`,
		Args:    exactly("AGENT", "KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.MemoryValue, error) {
				return connection.MemoryValue(ctx, args[0], args[1], options...)
			}, show.MemoryValue)
		},
	}
	how.addFlags(c)
	return c
}

func newMemoryList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	var prefix string
	c := &cobra.Command{
		Use:     "list AGENT",
		Short:   "List the keys of an agent's memory",
		Example: `  omni memory list 018f4e5c-0000-7000-8000-000000000001 --prefix orders`,
		Args:    exactly("AGENT"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.MemoryPage, error) {
				return connection.MemoryKeys(ctx, args[0], api.MemoryQuery{Prefix: prefix, After: page.after, Limit: page.limit}, options...)
			}, show.MemoryKeys)
		},
	}
	addPrefixFlag(c, &prefix)
	page.add(c, "key")
	how.addFlags(c)
	return c
}

func addPrefixFlag(c *cobra.Command, prefix *string) {
	c.Flags().StringVar(prefix, "prefix", "", "only keys that begin with these segments: orders lists orders/17")
}
