package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

func newLogAudit(a *app) *cobra.Command {
	var node string
	c := &cobra.Command{
		Use:   "audit [FILE]",
		Short: "Check that what the log tells keeps to the rules",
		Long: `Reads the whole log, from its beginning, with nothing else at hand, and checks that
what it tells could have happened: nothing was done without an ALLOW before it, or
on a token that was revoked or had expired; every ALLOW and DENY is what the grants
said at that moment; no tick saw a result before its record, or twice; every
transition is a row of the table; children got no more than their parents had; an
agent that had ended did nothing more; and more. docs/audit.md lists the rules.

Without a file the cluster's log is read. A file is what omni log export or omni
backup create wrote; - is stdin. The exit code is 1 when something does not keep to
the rules.`,
		Example: `  omni log audit
  omni log export > log.bin && omni log audit log.bin`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := logFile(args, node)
			if err != nil {
				return err
			}
			from, err := a.openLog(c.Context(), file, node, c.InOrStdin())
			if err != nil {
				return err
			}
			defer from.Close()
			return a.audit(from)
		},
	}
	c.Flags().StringVar(&node, "node", "", "ask this node only, by id or address")
	return c
}

// audit reads a whole log and says what was found.
func (a *app) audit(from io.Reader) error {
	began := time.Now()
	meter := a.tell.Meter()
	defer meter.Done()
	var auditor *logaudit.Auditor
	begin := func(o history.Origin) func(*logging.Block) error {
		auditor = logaudit.New(o.KernelID)
		return func(b *logging.Block) error { return auditor.Feed(b.Raw) }
	}
	origin, err := history.Whole(from, begin, func(bytes uint64) {
		meter.Show("%s: %d records, %d findings", show.Bytes(bytes), auditor.Records(), auditor.Found())
	})
	meter.Done()
	if auditor == nil {
		return unreadable(err)
	}
	found := show.NewAudited(auditor.Report(), auditor.Point())
	found.Origin, found.ClusterID, found.KernelID = origin.Kind, origin.ClusterID, origin.KernelID
	found.Millis = time.Since(began).Milliseconds()
	if err == nil || found.Found > 0 { // what is broken further on does not take back what was found
		if told := a.tell.Data(found, func(p *tell.Page) { show.LogAudit(p, found) }); told != nil {
			return told
		}
	}
	switch {
	case err != nil:
		return unreadable(err)
	case found.Found > 0:
		return tell.NotHeld("the log does not keep to the rules: %d findings", found.Found)
	}
	return nil
}
