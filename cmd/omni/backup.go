package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/restore"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/fsm/backup"
)

func newBackupCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "backup",
		Short: "One file with everything: made from any node, made into a new cluster",
		Long: `A backup is one file with the state of a kernel as of one event, and the whole
execution log up to it: agents, their memory, sessions, tokens, and everything that
ever happened. It is made while the cluster works, from any node, checked while it
is written, and restored to a cluster of another id whose log goes on where the
backup ended. omni server --backup-dir makes them by itself.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newBackupCreate(a), newBackupInspect(a), newBackupVerify(a), newBackupRestore(a))
	return c
}

// openBackup opens the file that a command is given; - is stdin.
func (a *app) openBackup(name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, tell.Usage("", "%v", err)
	}
	a.file = name
	return f, nil
}

// progressOf tells how far reading or writing a backup is. The caller ends it.
func (a *app) progressOf() (backup.Progress, func()) {
	line := a.tell.Progress()
	return func(part backup.Part, done, total uint64) {
		line.Show("%s", show.BackupProgress(part, done, total))
	}, line.Done
}

// aboutBackup gives errors of backups their exit codes and hints.
func aboutBackup(err error) error {
	var broken *backup.Broken
	var newer *backup.NewerError
	var plan *restore.PlanError
	var partial *backup.PartialError
	switch {
	case errors.As(err, &broken):
		return tell.NotHeld("%v", err)
	case errors.As(err, &newer):
		return tell.NotHeld("%v", newer)
	case errors.As(err, &partial):
		return tell.Refused("make one on a node with the archive: omni backup create --node ID", "%v", partial)
	case errors.As(err, &plan):
		return tell.Usage("omni backup restore --help", "%v", plan)
	case errors.Is(err, datadir.ErrNotEmpty):
		return tell.Refused("name a directory that is empty, or that does not exist", "%v", err)
	case errors.Is(err, backup.ErrExists):
		return tell.Refused("name another file, or move that one away", "%v", err)
	}
	return err
}
