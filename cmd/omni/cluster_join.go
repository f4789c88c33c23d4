package main

import (
	"github.com/spf13/cobra"
)

func newClusterJoin(a *app) *cobra.Command {
	f := newServerFlags(a)
	c := &cobra.Command{
		Use:   "join --node ID --data-dir DIR --api-addr HOST:PORT --raft-addr HOST:PORT",
		Short: "Start a new node on this machine, and have a running cluster take it in",
		Long: `Asks the running cluster at --server who it is, runs a node with an empty data
directory in the foreground, as omni server --join does, and has it taken in: as a
learner, which becomes a voter when it has caught up and has all history. The node says
how far it is. Whatever ends it in between, the same command goes on where it was; it
is also how the node is started ever after.

With --replace a member that is to go, up or down, is removed as soon as the new one
votes: there is never a voter less than before.

The node is reached by the others at --raft-addr, and its API at --api-url.`,
		Example: `  omni cluster join --server http://10.0.0.1:7700 --node n4 --data-dir /var/lib/omni \
      --api-addr 10.0.0.4:7700 --raft-addr 10.0.0.4:7800
  omni cluster join --server http://10.0.0.1:7700 --node n5 --replace n2 --data-dir /var/lib/omni \
      --api-addr 10.0.0.5:7700 --raft-addr 10.0.0.5:7800`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			servers, err := a.addresses()
			if err != nil {
				return err
			}
			f.join = append(f.join, servers...)
			f.shown = shown(c.Flags())
			return runServer(c.Context(), *f)
		},
	}
	f.addFlags(c)
	return c
}
