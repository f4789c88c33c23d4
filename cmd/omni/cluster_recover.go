package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster/raftstore"
	"github.com/omnikernel/omnikernel/cluster/survivor"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newClusterRecover(a *app) *cobra.Command {
	var p survivor.Plan
	var store, confirm string
	c := &cobra.Command{
		Use:   "recover --data-dir DIR [--confirm TOKEN]",
		Short: "After a majority was lost for ever: go on with one node that is left",
		Long: `Works on the data directory of a node that is stopped. It says what the node has, and
what may be lost, and changes nothing; given again with the token that it has printed, it
makes the node the only member of its cluster. The Raft store is copied first.

Use it only when a majority of the voters will never come back: as long as they may, wait,
or there will be two clusters. What was committed and never reached this node is lost; what
reached it and was not committed takes effect. Of several survivors take the one with the
highest last term, and of those the highest last index. Any other that comes back with what
it had is turned away by the recovered cluster, and stops.

Then start the node as ever, and add others, with empty directories: omni cluster join. The log says, where it goes on, that this happened: LEADER_STARTED by
recovery:NODE.`,
		Example: `  omni cluster recover --data-dir /var/lib/omni
  omni cluster recover --data-dir /var/lib/omni --confirm 3f9a0c51d27e`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			p.Kernel, p.Store = a.kernel, raftstore.Kind(store)
			if p.Kernel == "" {
				p.Kernel = "default"
			}
			found, err := survivor.Carry(p, confirm)
			if err != nil {
				return aboutRecovery(err)
			}
			return a.tell.Data(found, func(page *tell.Page) { show.Survivor(page, p.Dir, found) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&p.Dir, "data-dir", "", "the stopped node's data directory")
	flags.StringVar(&store, "store", "bolt", "its Raft log's store: bolt or wal")
	flags.StringVar(&p.Raft, "raft-addr", "", "where other nodes will find it, if that changes")
	flags.StringVar(&confirm, "confirm", "", "the token that was printed: do it")
	cobra.CheckErr(c.MarkFlagRequired("data-dir"))
	return c
}

func aboutRecovery(err error) error {
	hint := ""
	switch {
	case errors.Is(err, survivor.ErrToken):
		hint = "run it without --confirm, read what it says, and give the token that it prints"
	case errors.Is(err, raftstore.ErrBusy):
		hint = "stop the node first"
	case errors.Is(err, survivor.ErrNothing):
		hint = "name the data directory of a node, and its --kernel and --store"
	}
	return tell.Refused(hint, "%v", err)
}
