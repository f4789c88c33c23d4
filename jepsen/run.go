package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/experiment"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/report/summary"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

// runFlags are what `jepsen run` is told.
type runFlags struct {
	omni, out, format string
	seed              uint64
	smoke, all        bool
	length            time.Duration
	rounds            int
	operations        int
}

func newRun() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run [NAME…]", Short: "Run scenarios, and judge them",
		RunE: func(c *cobra.Command, names []string) error { return f.run(c.Context(), names) },
	}
	flags := c.Flags()
	flags.StringVar(&f.omni, "omni", "", "the program, built with the tag faultclock; built from the repository when empty")
	flags.StringVar(&f.out, "out", "jepsen-reports", "where the reports go, a directory for each run")
	flags.StringVarP(&f.format, "output", "o", "text", "text or json: a line for each run")
	flags.Uint64Var(&f.seed, "seed", 0, "of the first run, the others' follow; drawn when 0")
	flags.BoolVar(&f.smoke, "smoke", false, "the quick ones")
	flags.BoolVar(&f.all, "all", false, "all of them")
	flags.DurationVar(&f.length, "for", 0, "again and again, with new seeds, for so long")
	flags.IntVar(&f.rounds, "rounds", 1, "so many times each, with new seeds")
	flags.IntVar(&f.operations, "operations", 0, "fail when all runs together did fewer")
	return c
}

// chosen are the scenarios that are wanted.
func (f *runFlags) chosen(names []string) ([]*scenarios.Scenario, error) {
	all, err := scenarios.All()
	if err != nil {
		return nil, err
	}
	var chosen []*scenarios.Scenario
	known := make(map[string]bool)
	for _, s := range all {
		known[s.Name] = true
		wanted := f.all || (f.smoke && s.Smoke) || (f.length > 0 && len(names) == 0 && !f.smoke)
		for _, name := range names {
			wanted = wanted || name == s.Name
		}
		if wanted {
			chosen = append(chosen, s)
		}
	}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("there is no scenario %q; `jepsen list` shows all", name)
		}
	}
	if len(chosen) == 0 {
		return nil, errors.New("which scenarios? Name some, or say --smoke, --all, or --for and how long")
	}
	return chosen, nil
}

func (f *runFlags) run(ctx context.Context, names []string) error {
	chosen, err := f.chosen(names)
	if err != nil {
		return err
	}
	for f.seed == 0 {
		f.seed = rand.Uint64() >> 12 // exact in JSON
	}
	if f.omni == "" {
		dir, err := os.MkdirTemp("", "jepsen-omni-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if f.omni, err = program(ctx, dir); err != nil {
			return err
		}
	}
	rows, err := f.runs(ctx, chosen)
	if f.format == "json" {
		err = errors.Join(err, summary.Encode(os.Stdout, rows))
	} else {
		err = errors.Join(err, summary.Table(os.Stdout, summary.For(os.Stdout), rows))
	}
	if err != nil {
		return err
	}
	total := summary.Add(rows)
	switch {
	case total.Operations < f.operations:
		return fmt.Errorf("%d operations in all; %d were wanted", total.Operations, f.operations)
	case total.Invalid > 0:
		return verdict{check.Invalid}
	case total.Valid < total.Runs:
		return verdict{check.Unclear}
	}
	return nil
}

// runs runs the scenarios once, or for as long as is wanted. A run that could not
// be judged is a row without a verdict; after an interruption there are no more.
func (f *runFlags) runs(ctx context.Context, chosen []*scenarios.Scenario) (rows []summary.Row, err error) {
	until := time.Now().Add(f.length)
	for round := 0; round < f.rounds || time.Now().Before(until); round++ {
		for _, scenario := range chosen {
			if round >= f.rounds && !time.Now().Before(until) {
				break
			}
			row, err := f.one(ctx, scenario)
			rows = append(rows, row)
			if err != nil {
				return rows, err
			}
			f.seed++
		}
	}
	return rows, nil
}

// one runs one scenario, and says on stderr what came of it. The error is an
// interruption; a run that failed by itself is told by its row.
func (f *runFlags) one(ctx context.Context, scenario *scenarios.Scenario) (summary.Row, error) {
	dir := filepath.Join(f.out, fmt.Sprintf("%s-%d", scenario.Name, f.seed))
	row := summary.Row{Scenario: scenario.Name, Seed: f.seed, Dir: dir}
	began := time.Now()
	result, err := experiment.Run(ctx, experiment.Options{
		Scenario: scenario, Seed: f.seed, Omni: f.omni, Dir: dir, Say: os.Stderr,
		Again: fmt.Sprintf("bin/jepsen run %s --seed %d", scenario.Name, f.seed),
	})
	if err != nil {
		row.Error, row.Took = err.Error(), time.Since(began)
		fmt.Fprintf(os.Stderr, "%s, seed %d: %v\n", scenario.Name, f.seed, err)
		return row, ctx.Err()
	}
	row = summary.RowOf(&result.Run, &result.Judgement, result.History, dir)
	fmt.Fprintf(os.Stderr, "%s, seed %d: %s\n", scenario.Name, f.seed, report.Page(dir))
	return row, summary.Verdicts(os.Stderr, summary.For(os.Stderr), &result.Judgement)
}
