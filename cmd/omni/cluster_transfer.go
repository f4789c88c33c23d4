package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newClusterTransfer(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "transfer [NODE]",
		Short: "Hand leadership over, to a node or to the best follower",
		Long: `The leader takes no new commands, lets what is under way end, and hands over.
Commands sent meanwhile are refused definitely; clients try them again.`,
		Example: `  omni cluster transfer
  omni cluster transfer n2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			to := ""
			if len(args) == 1 {
				to = args[0]
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			done, err := connection.Transfer(c.Context(), to)
			if err != nil {
				return err
			}
			if done.Leader == "" {
				// The node that answered does not know yet who took over.
				if done.Leader, err = awaitLeader(c.Context(), connection, a.timeout); err != nil {
					return err
				}
			}
			return a.tell.Data(done, func(p *tell.Page) { p.Line("%s leads", p.Good(done.Leader)) })
		},
	}
}

// awaitLeader asks until a leader is known.
func awaitLeader(ctx context.Context, connection *client.Client, limit time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		status, err := connection.Status(ctx)
		if err != nil || status.Leader != "" {
			return status.Leader, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}
