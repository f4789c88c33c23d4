package main

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/backtest"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

func newPermissionBacktest(a *app) *cobra.Command {
	b := &backtesting{app: a}
	c := &cobra.Command{
		Use:   "backtest --grants FILE (--agent ID | --all) [LOGFILE]",
		Short: "What other grants would have made of what happened",
		Long: `Judges the requests that the log has under other grants: those of the file stand in
the place of the agent's own, or with --all of every agent's. Everybody else's are
as recorded, and so is the time. Authority is the strictest answer of all levels, so
the requests of whoever was delegated to by the agent are judged too.

Nothing is run, and nothing changes. A request that would have been answered
otherwise makes another run of it: what its tick asked for after that is counted
and not judged. Later ticks are judged as they were recorded.

The file is an agent file; its grants are what counts. Without a LOGFILE the
cluster's log is read; a file is what omni log export or omni backup create wrote,
- is stdin.`,
		Example: `  omni permission backtest --grants narrower.yaml --agent 018f4e5c-0000-7000-8000-000000000001
  omni permission backtest --grants policy.yaml --all log.bin -o json
  omni permission backtest --grants policy.yaml --all --from 100000 --to 200000`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return b.run(c, args) },
	}
	flags := c.Flags()
	flags.StringVar(&b.grants, "grants", "", "file with the grants, as in an agent file; - is stdin")
	flags.StringVar(&b.agent, "agent", "", "the agent whose grants they replace")
	flags.BoolVar(&b.all, "all", false, "replace every agent's grants")
	flags.Uint64Var(&b.of.From, "from", 0, "judge requests from this busSeq on")
	flags.Uint64Var(&b.of.To, "to", 0, "… up to this busSeq; 0 is the end of the log")
	flags.Uint64Var(&b.of.Limit, "limit", 1000, "list so many changes; all are counted")
	flags.StringVar(&b.node, "node", "", "ask this node only, by id or address")
	return c
}

// backtesting is one call of omni permission backtest.
type backtesting struct {
	app                 *app
	grants, agent, node string
	all                 bool
	of                  backtest.Case
}

func (b *backtesting) run(c *cobra.Command, args []string) error {
	file, err := logFile(args, b.node)
	if err != nil {
		return err
	}
	if err := b.flags(c, file); err != nil {
		return err
	}
	if b.of.Grants, err = readGrants(b.grants, c.InOrStdin()); err != nil {
		return err
	}
	from, err := b.app.openLog(c.Context(), file, b.node, c.InOrStdin())
	if err != nil {
		return err
	}
	defer from.Close()
	return b.judge(from)
}

// flags says what of the call makes no sense.
func (b *backtesting) flags(c *cobra.Command, file string) error {
	switch {
	case b.grants == "":
		return tell.Usage("usage: "+c.UseLine(), "name the file with the grants with --grants FILE")
	case b.agent == "" && !b.all:
		return tell.Usage("one agent's with --agent ID, or with --all every agent's", "whose grants do they replace?")
	case b.agent != "" && b.all:
		return tell.Usage("leave one of them out", "--agent and --all are two different questions")
	case b.of.To != 0 && b.of.To < b.of.From:
		return tell.Usage("", "--to is %d, must not be before --from", b.of.To)
	case b.grants == "-" && file == "-":
		return tell.Usage("", "stdin is the grants or the log, not both")
	}
	if b.agent != "" {
		id, ok := flows.ParseID(b.agent)
		if !ok {
			return tell.Usage("see what there is with: omni agent list", "--agent is %q, must be an agent's id", b.agent)
		}
		b.of.Agent = id
	}
	return nil
}

// readGrants reads the grants of an agent file. What is wrong with one of them is
// told with its place in the file.
func readGrants(name string, stdin io.Reader) (*permissions.Set, error) {
	f, define, err := readAgent(name, stdin)
	if err != nil {
		return nil, err
	}
	if f.JSON("grants") == nil {
		return nil, &agentfile.Problem{File: f.Name, Field: "grants", Rule: "is missing", Hint: "an empty list, grants: [], denies everything"}
	}
	set, refusal := permissions.Compile(define.Grants)
	if refusal != nil {
		problem := &agentfile.Problem{File: f.Name, Field: refusal.Field, Rule: refusal.Rule, Hint: refusal.Hint}
		problem.Line, problem.Column, _ = f.At(refusal.Field)
		return nil, problem
	}
	return set, nil
}

// errEnough ends the reading of a log before its end.
var errEnough = errors.New("the rest is not asked about")

func (b *backtesting) judge(from io.Reader) error {
	began := time.Now()
	meter := b.app.tell.Meter()
	defer meter.Done()
	test := backtest.New(b.of)
	begin := func(history.Origin) func(*logging.Block) error {
		return func(block *logging.Block) error {
			if test.Done() {
				return errEnough
			}
			test.Block(block)
			return nil
		}
	}
	origin, err := history.Whole(from, begin, func(bytes uint64) {
		meter.Show("%s: %d requests judged, %d changes", show.Bytes(bytes), test.Judged(), test.Changed())
	})
	meter.Done()
	if err != nil && !errors.Is(err, errEnough) {
		return unreadable(err)
	}
	report := test.Report()
	if !report.Known && !b.all {
		return &tell.Problem{
			Exit: 1, Code: tell.CodeRefused, Message: "the log has no agent " + b.agent,
			Hint: "see what there is with: omni agent list",
		}
	}
	found := show.NewBacktested(report)
	found.Origin, found.ClusterID, found.KernelID = origin.Kind, origin.ClusterID, origin.KernelID
	found.AgentID, found.From, found.To = b.agent, b.of.From, b.of.To
	found.Millis = time.Since(began).Milliseconds()
	return b.app.tell.Data(found, func(p *tell.Page) { show.Backtest(p, found) })
}
