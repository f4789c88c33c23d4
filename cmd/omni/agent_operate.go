package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAgentSend(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "send ID JSON",
		Short: "Put a message into an agent's mailbox",
		Long: `The agent takes messages out with RECEIVE, oldest first; one that waits for a
message gets it at once. A mailbox is bounded: a full one is QUEUE_FULL.`,
		Example: `  omni agent send 018f4e5c-0000-7000-8000-000000000001 '{"order": 17}'
  omni agent send 018f4e5c-0000-7000-8000-000000000001 '"stop"'`,
		Args: exactly("ID", "JSON"),
		RunE: func(c *cobra.Command, args []string) error {
			message, err := jsonArg(c, "JSON", args[1])
			if err != nil {
				return err
			}
			return a.change(c, "sent to", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.Send(ctx, event.Send{Agent: args[0], Message: message})
			})
		},
	}
}

func newAgentReclassify(a *app) *cobra.Command {
	var reason string
	var transient bool
	c := &cobra.Command{
		Use:   "reclassify ID --transient --reason TEXT",
		Short: "Call a PERMANENT fault a passing one",
		Long: `A root agent with a PERMANENT fault rests in FAULTED. When what was wrong has been
put right, call the fault TRANSIENT, and say why: both are on record. Then
omni agent recover runs the failed tick again from its checkpoint.`,
		Example: `  omni agent reclassify 018f4e5c-0000-7000-8000-000000000001 --transient --reason "the service is back"
  omni agent recover 018f4e5c-0000-7000-8000-000000000001`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case !transient:
				return tell.Usage("add --transient: a fault can be called that, and nothing else", "what the fault is to be called is missing")
			case reason == "":
				return tell.Usage(`for example --reason "the service is back"`, "--reason is missing: it is kept in the record")
			}
			return a.change(c, "reclassified", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.Reclassify(ctx, event.Reclassify{Agent: args[0], Reason: reason})
			})
		},
	}
	c.Flags().BoolVar(&transient, "transient", false, "call it TRANSIENT; must be given")
	c.Flags().StringVar(&reason, "reason", "", "why, kept in the record; must be given")
	return c
}
