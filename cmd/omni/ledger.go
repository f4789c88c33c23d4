package main

import (
	"context"
	"encoding/hex"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

func newLedgerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "ledger",
		Short: "Files of runs' provenance ledgers",
		Args:  onlySubcommands,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newLedgerVerify(a))
	return c
}

func newLedgerVerify(a *app) *cobra.Command {
	var head string
	var live bool
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a run's ledger, without a cluster",
		Long: `Reads a ledger that omni run ledger --export wrote; - is stdin. Every block must be
whole and continue the run's own chain, so that none was left out, changed, put
elsewhere or taken from another run, up to the head that the file names; its blocks
must define the run that it names, and each must be about an agent of it. What is
wrong is named with its place in the file.

What is left to trust is the head, one value of 64 hex digits: hand in one that you
know with --head, from omni run ledger or wherever it was written down; or have
a cluster asked with --live: its ledger of the run must have the same blocks.

That the records follow from each other is checked by omni run replay.`,
		Example: `  omni ledger verify run.ledger
  omni ledger verify run.ledger --head 4be0…  (64 hex digits)
  omni ledger verify run.ledger --live`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if n, err := hex.DecodeString(head); head != "" && (err != nil || len(n) != logging.HashBytes) {
				return tell.Usage("it is what omni run ledger ID ends with", "--head must be 64 hex digits")
			}
			found, err := a.ledgerIn(args[0], c.InOrStdin())
			if err != nil {
				return err
			}
			if head != "" && !strings.EqualFold(head, found.Head) {
				return tell.NotHeld("the ledger's head is %s, which is not the one given", found.Head)
			}
			if head != "" {
				found.Compared = "head"
			}
			if live {
				if err := a.compareLedger(c.Context(), found); err != nil {
					return err
				}
			}
			return a.tell.Data(found, func(p *tell.Page) { show.LedgerVerified(p, found) })
		},
	}
	c.Flags().StringVar(&head, "head", "", "what the run's chain must end with, 64 hex digits")
	c.Flags().BoolVar(&live, "live", false, "compare with the cluster's ledger of the run")
	return c
}

// ledgerIn verifies the ledger in a file.
func (a *app) ledgerIn(name string, stdin io.Reader) (*show.Ledger, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, tell.Usage("", "%v", err)
		}
		defer f.Close()
		a.file = name
		from = f
	}
	found, err := a.verified(from, nil)
	if err != nil {
		return nil, unreadable(err)
	}
	return found, nil
}

// compareLedger reads the run's ledger as the cluster has it, which may have gone on:
// where the file ends, its chain must stand where the file's does.
func (a *app) compareLedger(ctx context.Context, found *show.Ledger) error {
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	body, err := connection.OpenLedger(ctx, found.RunID)
	if err != nil {
		return err
	}
	defer body.Close()
	same := false
	now, err := a.verified(body, func(s *replay.LedgerSum) {
		same = same || s.Last == logging.PointerTo(found.Position) && hex.EncodeToString(s.Head[:]) == found.Head
	})
	switch {
	case err != nil:
		a.file = "" // it is not the file that is broken
		return unreadable(err)
	case !same:
		return tell.NotHeld("the cluster's ledger of the run has other blocks: its chain does not stand at %s after position %d", found.Head, found.Position)
	}
	found.Compared, found.Later = "live", now.Blocks-found.Blocks
	return nil
}
