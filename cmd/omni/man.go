package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// manPages are the pages that were written.
type manPages struct {
	Dir   string `json:"dir"`
	Pages int    `json:"pages"`
}

func newManCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual's pages, one for each command",
		Long: `Writes what --help says as pages for man(1) into a directory, one for each command.
Releases have them.`,
		Example: `  omni man /usr/local/share/man/man1
  man omni-agent-start`,
		Args: exactly("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			pages, err := writeManual(c.Root(), args[0])
			if err != nil {
				return tell.Refused("", "%v", err)
			}
			return a.tell.Data(pages, func(p *tell.Page) { p.Line("%d pages in %s", pages.Pages, pages.Dir) })
		},
	}
}

// writeManual writes the same bytes for the same program, whenever and wherever.
func writeManual(root *cobra.Command, dir string) (manPages, error) {
	b := thisBuild()
	date, err := time.Parse(time.RFC3339, b.Time)
	if err != nil { // it does not know its commit
		date = time.Unix(0, 0)
	}
	date = date.UTC()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return manPages{}, err
	}
	disableTags(root)
	header := &doc.GenManHeader{Section: "1", Source: "omni " + b.Version, Manual: "Omni Kernel", Date: &date}
	if err := doc.GenManTreeFromOpts(root, doc.GenManTreeOptions{Header: header, Path: dir, CommandSeparator: "-"}); err != nil {
		return manPages{}, err
	}
	found, err := filepath.Glob(filepath.Join(dir, "omni*.1"))
	return manPages{Dir: dir, Pages: len(found)}, err
}

// disableTags leaves out the line that says when a page was made.
func disableTags(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, sub := range c.Commands() {
		disableTags(sub)
	}
}
