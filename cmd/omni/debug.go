package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/bundle"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newDebugCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "debug",
		Short: "Collect what tells how a cluster is, for whoever has to find out",
		Args:  onlySubcommands,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newDebugBundle(a))
	return c
}

// madeBundle is a bundle and the file that it is in.
type madeBundle struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	bundle.Manifest
}

// bundleFlags are what goes into a bundle.
type bundleFlags struct {
	pprof   []string // ID=HOST:PORT
	profile time.Duration
	dirs    []string
	logs    bool
	answer  time.Duration
	size    int64 // MiB
}

func newDebugBundle(a *app) *cobra.Command {
	var f bundleFlags
	c := &cobra.Command{
		Use:   "bundle [FILE|DIR]",
		Short: "Write one file with how every node is: status, journals, metrics, profiles",
		Long: `Asks every node how it is and writes the answers into one tar.gz: status, lifecycle
and journal, metrics, health, the list of the log's segments. A node that does not
answer is passed over. What is missing, and why, is in the bundle's manifest.json.

Nothing of what agents do or hold is in it, no record of the log, no token and no
key. Logs are not, unless --logs asks for them: they say what tools said.

Nodes started with --pprof-addr tell more: --pprof says where, and gets goroutines,
heap, a CPU profile and the node's flags. --dir lists a data directory on this machine,
whose node need not be up.`,
		Example: `  omni debug bundle
  omni debug bundle /tmp --pprof n1=127.0.0.1:6060 --profile 10s
  omni debug bundle --dir /var/lib/omni`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			made, err := a.makeBundle(c.Context(), &f, append(args, ".")[0])
			if err != nil {
				return err
			}
			return a.tell.Data(made, func(p *tell.Page) {
				p.Line("%s: %d files, %d bytes", made.File, len(made.Items), made.Bytes)
				for _, m := range made.Missing {
					p.Line("  without %s: %s", m.What, m.Why)
				}
			})
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.pprof, "pprof", nil, "ID=HOST:PORT: where a node serves its profiles; repeatable")
	flags.DurationVar(&f.profile, "profile", 5*time.Second, "length of the CPU profiles; 0 takes none")
	flags.StringArrayVar(&f.dirs, "dir", nil, "a node's data directory on this machine, to be listed; repeatable")
	flags.BoolVar(&f.logs, "logs", false, "of a dev cluster (--data-dir): the last MiB of each node's log, too")
	flags.DurationVar(&f.answer, "answer-timeout", 10*time.Second, "how long each answer is waited for")
	flags.Int64Var(&f.size, "max-size", 64, "MiB that all of it may be, before it is compressed")
	return c
}

func (f *bundleFlags) check() error {
	switch {
	case f.answer <= 0 || f.profile < 0:
		return tell.Usage("", "--answer-timeout must be positive, and --profile must not be negative")
	case f.size < 1 || f.size > 4096:
		return tell.Usage("", "--max-size is %d, must be 1 to 4096", f.size)
	}
	for _, text := range f.pprof {
		if id, where, ok := strings.Cut(text, "="); !ok || id == "" || where == "" {
			return tell.Usage("", "--pprof %q: must be ID=HOST:PORT, such as n1=127.0.0.1:6060", text)
		}
	}
	return nil
}

// makeBundle collects into a file that gets its name when it is whole.
func (a *app) makeBundle(ctx context.Context, f *bundleFlags, to string) (made madeBundle, err error) {
	if err := f.check(); err != nil {
		return made, err
	}
	b, err := a.beginCollecting(ctx, f)
	if err != nil {
		return made, err
	}
	defer b.client.Close()
	dir := "omni-debug-" + time.Now().UTC().Format("20060102T150405Z")
	made.File = to
	if info, err := os.Stat(to); err == nil && info.IsDir() {
		made.File = filepath.Join(to, dir+".tar.gz")
	} else if err == nil {
		return made, tell.Usage("choose another name", "%s is there already", to)
	}
	part, err := os.CreateTemp(cmp.Or(filepath.Dir(made.File), "."), ".omni-debug-")
	if err != nil {
		return made, tell.Usage("", "%v", err)
	}
	defer os.Remove(part.Name()) // once it has its name there is none
	defer part.Close()
	b.w = bundle.New(part, dir, thisBuild(), f.size<<20)
	if err = b.collect(ctx); err != nil {
		return made, err
	}
	if made.Manifest, err = b.w.Close(); err != nil {
		return made, err
	}
	info, err := part.Stat()
	if err != nil {
		return made, fmt.Errorf("%s: %w", made.File, err)
	}
	made.Bytes = info.Size()
	return made, os.Rename(part.Name(), made.File)
}
