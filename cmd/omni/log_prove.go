package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

func newLogProve(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "prove SEQ",
		Short: "Prove that one record is in the log",
		Long: `Prints a proof, as JSON: the block that holds the record, and the few dozen hashes
that lead from it to a root which a Checkpoint recorded. omni log check follows it
without a cluster. A record is covered by the first Checkpoint after it, which comes
within seconds: this waits for it.`,
		Example: "  omni log prove 1200 > proof.json\n  omni log check proof.json",
		Args:    exactly("SEQ"),
		RunE: func(c *cobra.Command, args []string) error {
			seq, err := numberArg(c, "SEQ", args[0], 64)
			if err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			proof, err := connection.Prove(c.Context(), seq)
			if err != nil {
				return err
			}
			return json.NewEncoder(a.tell.Raw()).Encode(proof)
		},
	}
	return c
}
