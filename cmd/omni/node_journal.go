package main

import (
	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
)

func newNodeJournal(a *app) *cobra.Command {
	var (
		after uint64
		limit int
		dir   string
	)
	c := &cobra.Command{
		Use:   "journal [NODE]",
		Short: "What is on record of a node's lifecycle, over restarts",
		Long: `Prints the newest entries of a node's journal, oldest first: every transition, every
one that was refused and by which rule, and what became of components. NODE is its id
or its address; without it, whichever node answers.

With --dir it is read from a data directory, whose node need not be up. Lines that do
not read are named, and nothing is guessed in their place.`,
		Example: `  omni node journal n2
  omni node journal n2 --after 120 -o json | jq -r '.entries[] | select(.kind == "refusal") | .rule'
  omni node journal --dir /var/lib/omni`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			journal, err := a.journalOf(c, dir, after, limit, args)
			if err != nil {
				return err
			}
			return a.tell.Data(journal, func(p *tell.Page) { show.NodeJournal(p, journal) })
		},
	}
	c.Flags().Uint64Var(&after, "after", 0, "only entries after this seq")
	c.Flags().IntVar(&limit, "limit", 100, "at most so many, 1 to 1000")
	c.Flags().StringVar(&dir, "dir", "", "read the journal in this data directory, instead of asking a node")
	return c
}

func (a *app) journalOf(c *cobra.Command, dir string, after uint64, limit int, args []string) (api.NodeJournal, error) {
	switch {
	case limit < 1 || limit > api.MaxPageItems:
		return api.NodeJournal{}, tell.Usage("", "--limit is %d, must be 1 to %d", limit, api.MaxPageItems)
	case dir != "" && len(args) > 0:
		return api.NodeJournal{}, tell.Usage("usage: "+c.UseLine(), "a node and --dir are two journals")
	case dir != "":
		found, err := nodejournal.Read(dir)
		if err != nil {
			return api.NodeJournal{}, err
		}
		if len(found.Entries)+len(found.Damage) == 0 {
			return api.NodeJournal{}, tell.Usage("the directory that omni server was given with --data-dir has one; omni dev keeps one directory for each node", "%s: there is no node's journal there", dir)
		}
		return *httpapi.NodeJournal("", found.After(after, limit)), nil
	}
	connection, err := a.connect()
	if err != nil {
		return api.NodeJournal{}, err
	}
	defer connection.Close()
	return connection.NodeJournal(c.Context(), after, limit, atNode(args)...)
}
