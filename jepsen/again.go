package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/experiment"
	"github.com/omnikernel/omnikernel/jepsen/lab"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/report/summary"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

func newCheck() *cobra.Command {
	return &cobra.Command{
		Use: "check DIR…", Short: "Judge the runs of reports once more", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error {
			word := check.Valid
			for _, dir := range dirs {
				r, err := report.Load(dir)
				if err != nil {
					return err
				}
				scenario := new(scenarios.Scenario)
				if err := json.Unmarshal(r.Run.Scenario, scenario); err != nil {
					return fmt.Errorf("%s: the scenario of the run: %w", dir, err)
				}
				again, err := report.Again(c.Context(), dir, experiment.CheckersOf(scenario))
				if err != nil {
					return err
				}
				fmt.Println(dir)
				if err := summary.Verdicts(os.Stdout, summary.For(os.Stdout), &again.Now); err != nil {
					return err
				}
				for _, how := range again.Differ {
					fmt.Println("  differs from before:", how)
				}
				if again.Now.Word == check.Invalid || word == check.Valid {
					word = again.Now.Word
				}
			}
			if word != check.Valid {
				return verdict{word}
			}
			return nil
		},
	}
}

func newSweep() *cobra.Command {
	return &cobra.Command{
		Use: "sweep", Short: "Remove what interrupted runs left behind: processes, mounts, loop devices, networks", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			swept, err := lab.Sweep()
			if left := swept.String(); left != "" {
				fmt.Println(left)
			}
			return err
		},
	}
}
