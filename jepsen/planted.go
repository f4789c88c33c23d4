package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/experiment"
	"github.com/omnikernel/omnikernel/jepsen/report"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

//go:embed planted.txt
var plantedTable string

// bug is one that is in the tree on purpose.
type bug struct {
	tag      string
	scenario string // that must find it; "-" when the simulation does
	about    string
}

func plantedBugs(table string) ([]bug, error) {
	var bugs []bug
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(words) < 4 || !strings.HasPrefix(words[0], "planted_") {
			return nil, fmt.Errorf("planted.txt: %q is not: tag, simulation, scenario, what it is", strings.TrimSpace(line))
		}
		bugs = append(bugs, bug{tag: words[0], scenario: words[2], about: strings.Join(words[3:], " ")})
	}
	return bugs, nil
}

func newPlanted() *cobra.Command {
	var (
		out   string
		tries int
		seed  uint64
	)
	c := &cobra.Command{
		Use: "planted [TAG…]", Short: "Build each planted bug, run its scenario, and demand that a checker finds it",
		RunE: func(c *cobra.Command, tags []string) error {
			bugs, err := plantedBugs(plantedTable)
			if err != nil {
				return err
			}
			for _, tag := range tags {
				if !slices.ContainsFunc(bugs, func(b bug) bool { return b.tag == tag }) {
					return fmt.Errorf("there is no bug %q in planted.txt", tag)
				}
			}
			missed := 0
			for _, b := range bugs {
				if b.scenario == "-" || (len(tags) > 0 && !slices.Contains(tags, b.tag)) {
					continue
				}
				said, err := b.hunt(c.Context(), out, seed, tries)
				if err != nil {
					return fmt.Errorf("%s: %w", b.tag, err)
				}
				if said == "" {
					missed++
					said = fmt.Sprintf("NOT FOUND by %s in %d runs", b.scenario, tries)
				}
				fmt.Printf("%-22s %s\n", b.tag, said)
			}
			if missed > 0 {
				return verdict{check.Invalid}
			}
			return nil
		},
	}
	flags := c.Flags()
	flags.StringVar(&out, "out", "jepsen-reports", "where the reports go")
	flags.IntVar(&tries, "tries", 3, "runs with different seeds")
	flags.Uint64Var(&seed, "seed", 1, "of the first run")
	return c
}

// hunt runs the bug's scenario until a checker finds something: it says which, how
// soon, and what; nothing when none does.
func (b *bug) hunt(ctx context.Context, out string, seed uint64, tries int) (string, error) {
	all, err := scenarios.All()
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(all, func(s *scenarios.Scenario) bool { return s.Name == b.scenario })
	if at < 0 {
		return "", fmt.Errorf("planted.txt: there is no scenario %q", b.scenario)
	}
	dir, err := os.MkdirTemp("", "jepsen-omni-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	omni, err := program(ctx, dir, b.tag)
	if err != nil {
		return "", err
	}
	began := time.Now()
	for try := range tries {
		to := filepath.Join(out, fmt.Sprintf("%s-%d", b.tag, seed+uint64(try)))
		result, err := experiment.Run(ctx, experiment.Options{Scenario: all[at], Seed: seed + uint64(try), Omni: omni, Dir: to, Say: io.Discard})
		switch said := foundBy(&result.Judgement); {
		case err != nil:
			return "", errors.Join(ctx.Err(), err)
		case said != "":
			return fmt.Sprintf("found in %s, run %d, by %s", time.Since(began).Round(time.Second), try+1, said), nil
		}
	}
	return "", nil
}

// foundBy names all checkers that found something, and what the last of them did:
// the first ones are about every run.
func foundBy(j *report.Judgement) string {
	var names []string
	finding := ""
	for _, v := range j.Checkers {
		if v.Word == check.Invalid && len(v.Findings) > 0 {
			names = append(names, v.Checker)
			finding, _, _ = strings.Cut(v.Findings[0].Text, "\n")
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %.120s", strings.Join(names, ", "), finding)
}
