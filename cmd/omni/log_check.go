package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
)

// maxProofBytes bounds the file of a proof: two blocks, in base64, and hashes.
const maxProofBytes = 64 << 20

func newLogCheck(a *app) *cobra.Command {
	var chain string
	var live bool
	c := &cobra.Command{
		Use:   "check PROOF",
		Short: "Check a proof that a record is in the log, without a cluster",
		Long: `Follows the proof of omni log prove from the record to the log's chain value at the
Checkpoint's index; - is stdin. What is left to trust is that chain value: hand in
one that you know with --chain, or have a cluster asked with --live, which compares
the record's block with the one that is at its place now.`,
		Example: `  omni log check proof.json
  omni log check proof.json --chain 4be0…  (64 hex digits)
  omni log check proof.json --live`,
		Args: exactly("PROOF"),
		RunE: func(c *cobra.Command, args []string) error {
			proof, err := readProof(args[0], c.InOrStdin())
			if err != nil {
				return err
			}
			block, err := logproof.Check(proof)
			if err != nil {
				return tell.NotHeld("%v", err)
			}
			if chain != "" && !strings.EqualFold(chain, proof.Chain) {
				return tell.NotHeld("the proof leads to the chain value %s after index %d, which is not the one given", proof.Chain, proof.Index)
			}
			if live {
				if err := a.compareLive(c.Context(), proof); err != nil {
					return err
				}
			}
			found := proven(proof, block)
			found.Compared = live || chain != ""
			return a.tell.Data(found, func(p *tell.Page) { show.Proven(p, found) })
		},
	}
	c.Flags().StringVar(&chain, "chain", "", "the chain value that it must lead to, 64 hex digits")
	c.Flags().BoolVar(&live, "live", false, "compare with the cluster's log too")
	return c
}

func readProof(name string, stdin io.Reader) (*logproof.Proof, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, tell.Usage("", "%v", err)
		}
		defer f.Close()
		from = f
	}
	decoder := json.NewDecoder(io.LimitReader(from, maxProofBytes))
	decoder.DisallowUnknownFields()
	proof := new(logproof.Proof)
	if err := decoder.Decode(proof); err != nil {
		return nil, tell.NotHeld("%s is no proof of a record: %v", name, err)
	}
	return proof, nil
}

// compareLive asks the cluster for its own proof of the record: the log has one
// block at each place.
func (a *app) compareLive(ctx context.Context, proof *logproof.Proof) error {
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	now, err := connection.Prove(ctx, proof.BusSeq)
	if err != nil {
		return err
	}
	if now.Number != proof.Number || !bytes.Equal(now.Block, proof.Block) {
		return tell.NotHeld("the cluster's log has another block with the record %d than the proof", proof.BusSeq)
	}
	return nil
}

// proven says what a proof shows.
func proven(p *logproof.Proof, block *logging.Block) show.ProvenRecord {
	found := show.ProvenRecord{
		ClusterID: p.ClusterID, KernelID: p.KernelID, BusSeq: p.BusSeq, Index: block.Index, AtMillis: block.ClockMillis,
		Blocks: p.Size, HeadIndex: p.Index, Chain: p.Chain,
	}
	for records := block.Records(); records.Next(); {
		if records.Record.Seq == p.BusSeq {
			found.Kind = kernel.KindName(bus.Kind(records.Record.Kind))
		}
	}
	return found
}
