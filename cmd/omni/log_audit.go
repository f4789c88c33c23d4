package main

import (
	"errors"
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
agent that had ended did nothing more; a fork starts from what its source was; and
more. docs/audit.md lists the rules.

Without a file the cluster's log is read. A file is what omni log export or omni
backup create wrote; - is stdin, of which forks cannot be compared with their
sources: that takes reading twice. The exit code is 1 when something does not keep to
the rules.`,
		Example: `  omni log audit
  omni log export > log.bin && omni log audit log.bin`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := logFile(args, node)
			if err != nil {
				return err
			}
			return a.audit(func() (io.ReadCloser, error) {
				return a.openLog(c.Context(), file, node, c.InOrStdin())
			}, file != "-")
		},
	}
	c.Flags().StringVar(&node, "node", "", "ask this node only, by id or address")
	return c
}

// audit reads a whole log and says what was found. A log with forks in it is read
// again, where that is possible.
func (a *app) audit(open func() (io.ReadCloser, error), again bool) error {
	began := time.Now()
	meter := a.tell.Meter()
	defer meter.Done()
	var auditor *logaudit.Auditor
	begin := func(o history.Origin) func(*logging.Block) error {
		auditor = logaudit.New(o.KernelID)
		return func(b *logging.Block) error { return auditor.Feed(b.Raw) }
	}
	from, err := open()
	if err != nil {
		return err
	}
	origin, err := history.Whole(from, begin, func(bytes uint64) {
		meter.Show("%s: %d records, %d findings", show.Bytes(bytes), auditor.Records(), auditor.Found())
	})
	from.Close()
	if err == nil && again && auditor.Unread() > 0 {
		err = auditForks(open, auditor, meter)
	}
	meter.Done()
	if auditor == nil {
		return unreadable(err)
	}
	found := show.NewAudited(auditor.Report(), auditor.Point())
	found.Origin, found.ClusterID, found.KernelID = origin.Kind, origin.ClusterID, origin.KernelID
	found.Unread, found.Millis = auditor.Unread(), time.Since(began).Milliseconds()
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

// auditForks reads the log again and compares forks with their sources, up to
// where the log was when it was read first.
func auditForks(open func() (io.ReadCloser, error), auditor *logaudit.Auditor, meter *tell.Meter) error {
	from, err := open()
	if err != nil {
		return err
	}
	defer from.Close()
	forks := auditor.Unread()
	var origins *logaudit.Origins
	begin := func(o history.Origin) func(*logging.Block) error {
		origins = auditor.Origins(o.KernelID)
		return func(b *logging.Block) error {
			if origins.Done() {
				return errEnough
			}
			return origins.Feed(b.Raw)
		}
	}
	_, err = history.Whole(from, begin, func(bytes uint64) {
		meter.Show("%s: %d forks and their sources, %d findings", show.Bytes(bytes), forks, auditor.Found())
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
