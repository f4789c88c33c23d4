package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newTokenCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "token",
		Short: "The authority that agents hold",
		Long: `Every spawned agent holds one token: its grants, how deep it may delegate, and
until when. A child's token rests on its parent's: when one is revoked or expires,
everything below it is void at once. Where a command takes a token, the id of the
agent that holds it will do.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTokenList(a), newTokenShow(a), newTokenRevoke(a))
	return c
}

func newTokenList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	var inForce bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "List tokens, in order of their agents' ids",
		Example: `  omni token list --in-force`,
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.TokenPage, error) {
				return connection.Tokens(ctx, api.TokenQuery{InForce: inForce, After: page.after, Limit: page.limit}, options...)
			}, show.Tokens)
		},
	}
	c.Flags().BoolVar(&inForce, "in-force", false, "only those that are in force, of agents that have not ended")
	page.add(c, "agent id")
	how.addFlags(c)
	return c
}

func newTokenShow(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:     "show TOKEN",
		Short:   "Show one token, with its grants by their positions",
		Example: `  omni token show 018f4e5c-0000-7000-8000-000000000001`,
		Args:    exactly("TOKEN"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.TokenAnswer, error) {
				return connection.Token(ctx, args[0], options...)
			}, show.Token)
		},
	}
	how.addFlags(c)
	return c
}

func newTokenRevoke(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "revoke TOKEN",
		Short: "Revoke a token: its agent and everything below it end",
		Long: `From this event on nothing that rests on the token is allowed. The agents end one
after the other, with the failure TOKEN_REVOKED, which is PERMANENT; calls that
were not sent yet are withdrawn.`,
		Example: `  omni token revoke 018f4e5c-0000-7000-8000-000000000001 --reason "ran wild"`,
		Args:    exactly("TOKEN"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.change(c, "revoked the token of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.RevokeToken(ctx, event.RevokeToken{Agent: args[0], Reason: reason})
			})
		},
	}
	addReasonFlag(c, &reason)
	return c
}
