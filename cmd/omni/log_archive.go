package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newLogArchive(a *app) *cobra.Command {
	var before uint64
	c := &cobra.Command{
		Use:   "archive",
		Short: "Move what no living agent needs of the log's oldest segments to the archive",
		Long: `Commits that the sealed segments of the log are archived. On every node the
blocks of agents that are TERMINATED now, and those that concern no agent, move to
files of their own, which may be kept elsewhere; blocks of living agents stay.
Digests of what moves stay too: the chain still verifies, and proofs that were made
before still hold. Where the archive is in place everything can be read as before;
a watch from below is told COMPACTED, and where to begin.`,
		Example: `  omni log archive
  omni log archive --before 1000000`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.change(c, "archived the log", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.ArchiveLog(ctx, event.ArchiveLog{Before: before})
			})
		},
	}
	c.Flags().Uint64Var(&before, "before", 0, "only segments that end before this busSeq; 0 is all sealed ones")
	return c
}
