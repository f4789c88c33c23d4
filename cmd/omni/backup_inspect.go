package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/fsm/backup"
)

func newBackupInspect(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE",
		Short: "What a backup is of and what is in it, without reading its log",
		Long: `Reads the header, the state and the trailer, and checks them: which cluster, as of
when, how many agents in which states. The log is not read: that it is whole is for
omni backup verify to say.`,
		Example: "  omni backup inspect 20251121T034600Z-00000000000000012345-n1@default@omni.omniback",
		Args:    exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return tell.Usage("", "%v", err)
			}
			defer f.Close()
			a.file = args[0]
			info, err := f.Stat()
			if err != nil {
				return err
			}
			found, err := backup.Inspect(c.Context(), f, info.Size(), a.evaluators)
			if err != nil {
				return aboutBackup(err)
			}
			return a.tell.Data(found, func(p *tell.Page) { show.Backup(p, found) })
		},
	}
}

func newBackupVerify(a *app) *cobra.Command {
	var deep bool
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check everything in a backup, without a cluster",
		Long: `Reads all of it and checks every checksum, the chain of the log from its beginning to
where the state stands, the state's digest, and that this program can go on from that
state; - is stdin. With --deep the log is folded, too, record by record: the state that
comes of it must be the one in the backup: not of one that was made without the node's
archive, which has only digests of some blocks. What is wrong is named by its offset.`,
		Example: `  omni backup verify omni.omniback
  omni backup verify --deep omni.omniback`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			f, err := a.openBackup(args[0], c.InOrStdin())
			if err != nil {
				return err
			}
			defer f.Close()
			progress, done := a.progressOf()
			report, err := backup.Verify(c.Context(), f, backup.Options{Deep: deep, Evaluators: a.evaluators, Progress: progress})
			done()
			if err != nil {
				return aboutBackup(err)
			}
			return a.tell.Data(report, func(p *tell.Page) { show.Backup(p, report) })
		},
	}
	c.Flags().BoolVar(&deep, "deep", false, "fold the log, and compare the state that it gives")
	return c
}
