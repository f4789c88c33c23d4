package main

import (
	"encoding/json"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/jepsen/nemesis"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

func newList() *cobra.Command {
	var format string
	c := &cobra.Command{
		Use: "list", Short: "The scenarios, and the faults that they may name", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			all, err := scenarios.All()
			if err != nil {
				return err
			}
			if format == "json" {
				return json.NewEncoder(os.Stdout).Encode(all)
			}
			w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
			for _, s := range all {
				smoke := ""
				if s.Smoke {
					smoke = "smoke"
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Name, s.Kind(), smoke, s.About)
			}
			fmt.Fprintln(w)
			for _, kind := range nemesis.Kinds() {
				fmt.Fprintf(w, "%s\t%s\t\t%s\n", kind[0], kind[1], kind[2])
			}
			return w.Flush()
		},
	}
	c.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return c
}
