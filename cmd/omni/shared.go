package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newSharedCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "shared",
		Short: "The memory that agents and operators share",
		Long: `Values under keys, in namespaces. Agents need grants to reach it; every access is
on record. Each write gives a key a new version, a number that is never used
twice: put and delete with --version happen only if nobody was faster.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newSharedGet(a), newSharedPut(a), newSharedList(a), newSharedDelete(a))
	return c
}

func newSharedGet(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "get NAMESPACE KEY",
		Short: "Show one value of shared memory",
		Long: `Prints the value alone, as JSON, so that it can be piped. With -o json also its
version, and who wrote it when.`,
		Example: `  omni shared get team orders/17
  omni shared get team orders/17 -o json | jq .version`,
		Args: exactly("NAMESPACE", "KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.MemoryValue, error) {
				return connection.SharedValue(ctx, args[0], args[1], options...)
			}, show.MemoryValue)
		},
	}
	how.addFlags(c)
	return c
}

func newSharedList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	var prefix string
	c := &cobra.Command{
		Use:     "list NAMESPACE",
		Short:   "List the keys of a namespace",
		Example: `  omni shared list team --prefix orders`,
		Args:    exactly("NAMESPACE"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.MemoryPage, error) {
				return connection.SharedKeys(ctx, args[0], api.MemoryQuery{Prefix: prefix, After: page.after, Limit: page.limit}, options...)
			}, show.MemoryKeys)
		},
	}
	addPrefixFlag(c, &prefix)
	page.add(c, "key")
	how.addFlags(c)
	return c
}

func newSharedPut(a *app) *cobra.Command {
	var version uint64
	c := &cobra.Command{
		Use:   "put NAMESPACE KEY JSON",
		Short: "Write one key of shared memory",
		Long: `With --version only if the key has that version, 0 meaning that it does not exist;
otherwise nothing happens, and VERSION_CONFLICT names the version that it has.`,
		Example: `  omni shared put team orders/17 '{"open": true}'
  omni shared put team orders/17 '{"open": false}' --version 4711`,
		Args: exactly("NAMESPACE", "KEY", "JSON"),
		RunE: func(c *cobra.Command, args []string) error {
			v, err := jsonArg(c, "JSON", args[2])
			if err != nil {
				return err
			}
			command := event.PutShared{Namespace: args[0], Key: args[1], Value: v, Version: versionFlag(c, version)}
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.PutShared(ctx, command)
			}, func(p *tell.Page, done api.Done) { show.Shared(p, "put", args[0], args[1], done) })
		},
	}
	c.Flags().Uint64Var(&version, "version", 0, "the version that the key must have; 0: it must not exist")
	return c
}

func newSharedDelete(a *app) *cobra.Command {
	var version uint64
	c := &cobra.Command{
		Use:   "delete NAMESPACE KEY",
		Short: "Delete one key of shared memory",
		Example: `  omni shared delete team orders/17
  omni shared delete team orders/17 --version 4711`,
		Args: exactly("NAMESPACE", "KEY"),
		RunE: func(c *cobra.Command, args []string) error {
			command := event.DeleteShared{Namespace: args[0], Key: args[1], Version: versionFlag(c, version)}
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.DeleteShared(ctx, command)
			}, func(p *tell.Page, done api.Done) { show.Shared(p, "deleted", args[0], args[1], done) })
		},
	}
	c.Flags().Uint64Var(&version, "version", 0, "the version that the key must have")
	return c
}
