package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/client"
)

// verified is what `log verify` found. Agree and Differ name the nodes whose
// running digest is, or is not, the chain value at the same index; a log that
// moves on all the time leaves both empty.
type verified struct {
	logexport.Summary
	Agree  []string `json:"nodes_agree,omitempty"`
	Differ []string `json:"nodes_differ,omitempty"`
}

func newLogVerify(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Check the chain of the log, live or of an export",
		Long: `Reads every block and checks that it is whole, that it continues the one before
it, and that the chain of digests holds. Of a file nothing else is asked; - is
stdin. Without a file the cluster's log is read, and its last chain value is
compared with what the nodes report.`,
		Example: `  omni log verify
  omni log verify log.bin`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var found verified
			var err error
			if len(args) == 1 {
				found.Summary, err = verifyFile(args[0], c.InOrStdin())
			} else {
				found, err = a.verifyLive(c.Context())
			}
			if err != nil {
				return broken(err)
			}
			if err := a.tell.Data(found, func(p *tell.Page) { show.Verified(p, found.Summary, len(args) == 0, found.Agree, found.Differ) }); err != nil {
				return err
			}
			if len(found.Differ) > 0 {
				return tell.NotHeld("the log that was read and the digests of %v differ at index %d", found.Differ, found.LastIndex)
			}
			return nil
		},
	}
	return c
}

func verifyFile(name string, stdin io.Reader) (logexport.Summary, error) {
	if name == "-" {
		return logexport.Verify(stdin)
	}
	f, err := os.Open(name)
	if err != nil {
		return logexport.Summary{}, tell.Usage("", "%v", err)
	}
	defer f.Close()
	return logexport.Verify(f)
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

// verifyLive reads the cluster's log and compares its end with the nodes.
func (a *app) verifyLive(ctx context.Context) (verified, error) {
	connection, err := a.connect()
	if err != nil {
		return verified{}, err
	}
	defer connection.Close()
	for attempt := 1; ; attempt++ {
		found, err := verifyOnce(ctx, connection)
		if err != nil || len(found.Agree)+len(found.Differ) > 0 || attempt == attempts {
			return found, err
		}
	}
}

func verifyOnce(ctx context.Context, connection *client.Client) (found verified, err error) {
	if found.Summary, err = connection.Export(ctx, 0, io.Discard); err != nil {
		return found, err
	}
	status, err := connection.Status(ctx)
	if err != nil {
		return found, err
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
