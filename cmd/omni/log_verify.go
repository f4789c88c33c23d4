package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newLogVerify(a *app) *cobra.Command {
	var agent string
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check the chain of the log, live or of an export",
		Long: `Reads every block and checks that it is whole, that it continues the one before
it, that the chain of digests holds, and that the tree heads on record are those
of the blocks before them. Of a file nothing else is asked; - is stdin. Without a
file the cluster's log is read. Then its last chain value is compared with what the
nodes report, and its value at the end of every sealed segment with the manifest
of each node.

With --agent one agent's own chain is walked: each of its blocks leads to the one
before it and carries the chain value from there. The file is what omni agent
export or omni log export wrote; without one every node is asked for the agent's
blocks as it has them, and their ends are compared.`,
		Example: `  omni log verify
  omni log verify log.bin
  omni log verify --agent 018f4e5c-0000-7000-8000-000000000001`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, ok := flows.ParseID(agent); agent != "" && !ok {
				return tell.Usage("see what there is with: omni agent list", "--agent is %q, must be an agent's id", agent)
			}
			file, err := logFile(args, "")
			switch {
			case err != nil:
				return err
			case agent != "":
				return a.verifyAgent(c.Context(), agent, file, c.InOrStdin())
			case file == "":
				return a.verifyLive(c.Context())
			}
			return a.verifyFile(c.Context(), file, c.InOrStdin())
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "walk this agent's own chain, instead of the log's")
	return c
}

func (a *app) verifyFile(ctx context.Context, file string, stdin io.Reader) error {
	from, err := a.openLog(ctx, file, "", stdin)
	if err != nil {
		return err
	}
	defer from.Close()
	found, err := a.verifyLog(from, nil)
	if err != nil {
		return broken(err)
	}
	return a.tell.Data(found, func(p *tell.Page) { show.Verified(p, found, false) })
}

// broken makes a failed check of a chain that does not hold.
func broken(err error) error {
	var broken *logexport.Broken
	if errors.As(err, &broken) {
		return tell.NotHeld("%v", err)
	}
	return err
}

// attempts is how often a log that grew while it was read is read again.
const attempts = 3

// verifyLive reads the cluster's log and compares it with the nodes.
func (a *app) verifyLive(ctx context.Context) error {
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	var found *show.VerifiedLog
	for attempt := 1; ; attempt++ {
		if found, err = a.verifyOnce(ctx, connection); err != nil {
			return broken(err)
		}
		if len(found.Agree)+len(found.Differ) > 0 || attempt == attempts {
			break
		}
	}
	if err := a.tell.Data(found, func(p *tell.Page) { show.Verified(p, found, true) }); err != nil {
		return err
	}
	switch {
	case len(found.Differ) > 0:
		return tell.NotHeld("the log that was read and the digests of %v differ at index %d", found.Differ, found.LastIndex)
	case len(found.SegmentsDiffer) > 0:
		return tell.NotHeld("the log that was read and the manifests of %v differ", found.SegmentsDiffer)
	}
	return nil
}

func (a *app) verifyOnce(ctx context.Context, connection *client.Client) (*show.VerifiedLog, error) {
	manifests, err := manifestsOf(ctx, connection)
	if err != nil {
		return nil, err
	}
	from, err := connection.OpenExport(ctx, 0)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	found, err := a.verifyLog(from, manifests)
	if err != nil {
		return nil, err
	}
	status, err := connection.Status(ctx)
	if err != nil {
		return nil, err
	}
	for _, node := range status.Nodes {
		switch {
		case !comparable(node, found.Summary):
		case node.Digest == found.Chain:
			found.Agree = append(found.Agree, node.ID)
		default:
			found.Differ = append(found.Differ, node.ID)
		}
	}
	return found, nil
}

func comparable(node api.NodeStatus, sum logexport.Summary) bool {
	return node.Digest != "" && node.AppliedIndex == sum.LastIndex
}
