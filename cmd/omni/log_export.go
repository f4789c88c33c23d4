package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newLogExport(a *app) *cobra.Command {
	var from uint64
	var node string
	c := &cobra.Command{
		Use:   "export",
		Short: "Write the log to stdout, in a form that can be verified offline",
		Long: `Writes the log's own bytes, block by block, from the beginning up to the present
end, with a header and a trailer, and checks the chain while it does. If the
stream breaks the export is incomplete, the exit code says so, and so does omni
log verify.`,
		Example: "  omni log export > log.bin",
		Args:    exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if a.tell.RawIsTerminal() {
				return tell.Usage("omni log export > log.bin", "an export is bytes, not text for a terminal")
			}
			var options []client.Option
			if node != "" {
				options = append(options, client.Node(node))
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			sum, err := connection.Export(c.Context(), from, a.tell.Raw(), options...)
			if err != nil {
				return err
			}
			a.tell.SayPage(func(p *tell.Page) { show.Export(p, sum) })
			return nil
		},
	}
	c.Flags().Uint64Var(&from, "from", 0, "begin with the block that holds this busSeq; 0 is the beginning")
	c.Flags().StringVar(&node, "node", "", "ask this node only, by id or address")
	return c
}
