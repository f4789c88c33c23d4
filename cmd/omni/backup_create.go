package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/fsm/backup"
)

// madeBackup is a backup and the file that it is in; no file for stdout.
type madeBackup struct {
	File string `json:"file,omitempty"`
	backup.Summary
}

func newBackupCreate(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use:   "create [FILE|DIR|-]",
		Short: "Make a backup, from any node, while the cluster works",
		Long: `Asks a node for its state and the whole log up to it. Everything that was
acknowledged before is in it, unless --consistency stale takes what a node has: so a
backup can be had from a cluster without a majority, too. Without a FILE, or in a
DIR, its name says when and of what it was made; - is stdout.

A node that does not have its archive gives the digests of what was archived, and the
backup says from which busSeq on it is whole; --node asks one that has it.

It is checked while it is written, and gets its name when it is whole and on disk.`,
		Example: `  omni backup create
  omni backup create /backups/before-upgrade.omniback --node n3
  omni backup create - --consistency stale | ssh elsewhere 'cat > omni.omniback'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			to := "."
			if len(args) == 1 {
				to = args[0]
			}
			if to == "-" && a.tell.RawIsTerminal() {
				return tell.Usage("omni backup create FILE", "a backup is bytes, not text for a terminal")
			}
			made, err := a.createBackup(c, &how, to)
			if err != nil {
				return err
			}
			if to == "-" {
				a.tell.SayPage(func(p *tell.Page) { show.BackupMade(p, "", made.Summary) })
				return nil
			}
			return a.tell.Data(made, func(p *tell.Page) { show.BackupMade(p, made.File, made.Summary) })
		},
	}
	how.addFlags(c)
	return c
}

func (a *app) createBackup(c *cobra.Command, how *reading, to string) (made madeBackup, err error) {
	dir, name, err := place(to)
	if err != nil {
		return made, err
	}
	options, err := how.options(c)
	if err != nil {
		return made, err
	}
	connection, err := a.connect()
	if err != nil {
		return made, err
	}
	defer connection.Close()
	fetch := func(w io.Writer) error {
		body, notOnRecord, err := connection.Backup(c.Context(), options...)
		if err != nil {
			return err
		}
		defer body.Close()
		if notOnRecord != "" {
			a.tell.Say("the execution log may not have that this backup was made: %s", notOnRecord)
		}
		progress, done := a.progressOf()
		defer done()
		made.Summary, err = backup.Copy(c.Context(), w, body, progress)
		return brokenOff(c.Context(), err)
	}
	if to == "-" {
		return made, fetch(a.tell.Raw())
	}
	made.File, err = backup.Save(dir, ".backup-", func(f *os.File) error { return fetch(f) }, func() string {
		if name == "" {
			return backup.NameOf(made.Header).String()
		}
		return name
	})
	return made, aboutBackup(err)
}

// brokenOff tells a stream that ended early: there is no file to speak of.
func brokenOff(ctx context.Context, err error) error {
	var broken *backup.Broken
	if ctx.Err() != nil || !errors.As(err, &broken) {
		return err
	}
	return tell.Refused("ask again, or another node with --node: cluster status tells how they are",
		"the node broke the backup off, and nothing was kept: %s", broken.What)
}

// place is the directory and the name of a new backup; no name when it is to follow
// from what is in it.
func place(to string) (dir, name string, err error) {
	if to == "-" {
		return "", "", nil
	}
	switch info, err := os.Stat(to); {
	case err == nil && info.IsDir():
		return to, "", nil
	case err == nil:
		return "", "", aboutBackup(&os.PathError{Op: "create", Path: to, Err: backup.ErrExists})
	case !errors.Is(err, os.ErrNotExist):
		return "", "", tell.Usage("", "%v", err)
	}
	dir, name = filepath.Split(to)
	if dir == "" {
		dir = "."
	}
	if name == "" {
		return "", "", tell.Usage("make it first, or name a file", "there is no directory %s", to)
	}
	return dir, name, nil
}
