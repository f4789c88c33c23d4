package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newEscalationCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "escalation",
		Short: "Requests of agents that somebody has to decide",
		Long: `A grant with the effect ESCALATE makes a call wait for somebody's word. A parent
whose program declares a handler decides for its children; everything else, and
that too if need be, is decided here. Without a decision in time it is a DENY.

An approval lets exactly this call through, once. It is judged again when it is
used: what was revoked meanwhile stays revoked.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newEscalationList(a), newEscalationShow(a),
		newEscalationDecide(a, true, "approve", "approved", "Let the call through"),
		newEscalationDecide(a, false, "deny", "denied", "Deny the call"))
	return c
}

func newEscalationList(a *app) *cobra.Command {
	var how reading
	var agent string
	var page pageFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List what waits for a decision, oldest first",
		Example: `  omni escalation list
  omni escalation list -o json | jq -r '.escalations[].escalation'`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			query := api.EscalationQuery{Agent: agent, Limit: page.limit}
			if page.after != "" {
				var err error
				if query.After, err = numberArg(c, "--after", page.after, 63); err != nil {
					return err
				}
			}
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.EscalationPage, error) {
				return connection.Escalations(ctx, query, options...)
			}, show.Escalations)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "only what this agent asked for")
	page.add(c, "escalation")
	how.addFlags(c)
	return c
}

func newEscalationShow(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:     "show ID",
		Short:   "Show one request: who asks for what, with which arguments",
		Example: `  omni escalation show 4711`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := numberArg(c, "ID", args[0], 63)
			if err != nil {
				return err
			}
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.EscalationAnswer, error) {
				return connection.Escalation(ctx, number, options...)
			}, show.Escalation)
		},
	}
	how.addFlags(c)
	return c
}

func newEscalationDecide(a *app, approve bool, verb, done, short string) *cobra.Command {
	var reason string
	long := "Exactly this call, once; the agent goes on."
	if !approve {
		long = "The call is answered with PERMISSION_DENIED and the reason; the agent's program may\nhandle that."
	}
	c := &cobra.Command{
		Use:     verb + " ID",
		Short:   short,
		Long:    short + ".\n\n" + long,
		Example: "  omni escalation " + verb + ` 4711 --reason "talked to the customer"`,
		Args:    exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			number, err := numberArg(c, "ID", args[0], 63)
			if err != nil {
				return err
			}
			if number == 0 {
				return tell.Usage("omni escalation list", "ID is 0, must be the number of an escalation")
			}
			return a.change(c, done+" "+strconv.FormatUint(number, 10)+" of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.Decide(ctx, event.Decide{Escalation: number, Approve: approve, Reason: reason})
			})
		},
	}
	addReasonFlag(c, &reason)
	return c
}
