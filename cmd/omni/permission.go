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

func newPermissionCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "permission",
		Short: "What agents may do, and why",
		Long: `Grants say what an agent may do: an effect, an action, and a pattern of resources.
DENY goes before ESCALATE, which asks somebody, before ALLOW; what no grant allows
is denied. The grants of everybody above the agent are asked too: the strictest
answer holds.

Actions and resources:
  tool.call        TOOL, for http.request: http.request/METHOD/HOST/PATH…
  memory.read      self/KEY, parent/KEY; likewise memory.write, memory.delete
  shared.read      NAMESPACE/KEY; likewise shared.write, shared.delete
  agent.delegate   agent/NAME
  agent.kill       agent/UUID; likewise agent.suspend, agent.resume, agent.revoke`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newPermissionCheck(a), newPermissionExplain(a), newPermissionRevoke(a), newPermissionBacktest(a))
	return c
}

func explaining(args []string) func(context.Context, *client.Client, []client.Option) (api.Explanation, error) {
	return func(ctx context.Context, connection *client.Client, options []client.Option) (api.Explanation, error) {
		return connection.Explain(ctx, args[0], args[1], args[2], options...)
	}
}

func newPermissionCheck(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "check AGENT ACTION RESOURCE",
		Short: "May the agent do this now?",
		Long: `The exit code is 0 when the answer is ALLOW, and 1 when it is DENY or ESCALATE, so
that scripts can ask. Nothing is recorded: it is not the agent that asks.`,
		Example: `  omni permission check 018f4e5c-0000-7000-8000-000000000001 tool.call http.request/GET/api.example.com/v1
  omni permission check 018f4e5c-0000-7000-8000-000000000001 shared.write team/orders/17 && echo yes`,
		Args: exactly("AGENT", "ACTION", "RESOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			x, err := answerTo(a, c, &how, explaining(args), show.Verdict)
			if err != nil || x.Verdict == "ALLOW" {
				return err
			}
			refusal := tell.NotHeld("%s on %s: %s", x.Action, x.Resource, x.Verdict)
			refusal.Hint = "omni permission explain tells which grants were considered"
			return refusal
		},
	}
	how.addFlags(c)
	return c
}

func newPermissionExplain(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "explain AGENT ACTION RESOURCE",
		Short: "Which grant decides about this, and why",
		Long: `Shows the agent's own grants that speak of the action, then those of everybody
above it, in the order in which they decide, whether each matches the resource,
and whether its time is over. The strictest level decides.`,
		Example: `  omni permission explain 018f4e5c-0000-7000-8000-000000000001 tool.call http.request/POST/api.example.com/v1`,
		Args:    exactly("AGENT", "ACTION", "RESOURCE"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, explaining(args), show.Explanation)
		},
	}
	how.addFlags(c)
	return c
}

func newPermissionRevoke(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "revoke AGENT GRANT",
		Short: "Take one ALLOW away from an agent",
		Long: `GRANT is its position, from 0: omni token show lists them. From then on the grant
says nothing, to the agent and to whatever was delegated from it. Positions stay.
Only an ALLOW can be taken away: without a DENY or an ESCALATE the agent could do
more.`,
		Example: `  omni permission revoke 018f4e5c-0000-7000-8000-000000000001 2 --reason "not needed any more"`,
		Args:    exactly("AGENT", "GRANT"),
		RunE: func(c *cobra.Command, args []string) error {
			grant, err := numberArg(c, "GRANT", args[1], 32)
			if err != nil {
				return err
			}
			return a.change(c, "revoked grant "+args[1]+" of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.RevokeGrant(ctx, event.RevokeGrant{Agent: args[0], Grant: uint32(grant), Reason: reason})
			})
		},
	}
	addReasonFlag(c, &reason)
	return c
}
