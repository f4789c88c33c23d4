package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newClusterList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "The members: who votes, how far learners are, how many may fail",
		Long: `Asks one node, which asks the others. A learner receives everything and does not
count; it becomes a voter by itself when it has caught up and has all history, unless
it was added or demoted to stay a learner. How a learner stands the leader knows best.`,
		Example: `  omni cluster list
  omni cluster list -o json | jq .spare`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			members, err := connection.Members(c.Context())
			if err != nil {
				return err
			}
			return a.tell.Data(members, func(p *tell.Page) { show.Members(p, members) })
		},
	}
}

func newClusterAdd(a *app) *cobra.Command {
	var learner bool
	c := &cobra.Command{
		Use:   "add ID=RAFT[=APIURL]",
		Short: "Take in a node that waits for it; omni cluster join does it by itself",
		Long: `The node runs already, with an empty data directory: omni server --join. It becomes a
learner, and a voter by itself when it has caught up. omni cluster join starts a node
and has it taken in, in one command.`,
		Example: `  omni cluster add n4=10.0.0.4:7800
  omni cluster add n4=10.0.0.4:7800=http://10.0.0.4:7700 --learner`,
		Args: exactly("ID=RAFT"),
		RunE: func(c *cobra.Command, args []string) error {
			parts := append(strings.SplitN(args[0], "=", 3), "", "")
			if parts[0] == "" || parts[1] == "" {
				return tell.Usage("such as n4=10.0.0.4:7800", "%q: must be ID=RAFT or ID=RAFT=APIURL", args[0])
			}
			return a.changeMember(c, func(ctx context.Context, connection *client.Client) (api.MemberChanged, error) {
				return connection.AddMember(ctx, api.AddMemberBody{ID: parts[0], Raft: parts[1], API: parts[2], Learner: learner})
			})
		},
	}
	c.Flags().BoolVar(&learner, "learner", false, "it stays a learner until it is promoted")
	return c
}

func newClusterPromote(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "promote NODE",
		Short: "Make a learner a voter",
		Long: `Refused with NOT_CAUGHT_UP while the learner is behind, or lacks history; it becomes a
voter by itself when it has caught up.`,
		Example: `  omni cluster promote n4`,
		Args:    exactly("NODE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeMember(c, func(ctx context.Context, connection *client.Client) (api.MemberChanged, error) {
				return connection.PromoteMember(ctx, args[0])
			})
		},
	}
}

func newClusterDemote(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "demote NODE",
		Short: "Make a voter a learner, until it is promoted again",
		Long: `It receives everything on, and does not count for majorities. The leader hands
leadership over first, when it is about itself. Refused when too few of the other
voters answer.`,
		Example: `  omni cluster demote n2`,
		Args:    exactly("NODE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeMember(c, func(ctx context.Context, connection *client.Client) (api.MemberChanged, error) {
				return connection.DemoteMember(ctx, args[0], force)
			})
		},
	}
	addForceFlag(c, &force)
	return c
}

func newClusterRemove(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "remove NODE",
		Short: "Remove a node for ever, up or down",
		Long: `The node learns of it, stops, and does not start again: its id and its data directory
must not come back. The leader hands leadership over first, when it is about itself.
Refused when too few of the other voters answer.

A node whose disk is lost is replaced with: omni cluster join --replace NODE`,
		Example: `  omni cluster remove n2`,
		Args:    exactly("NODE"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeMember(c, func(ctx context.Context, connection *client.Client) (api.MemberChanged, error) {
				return connection.RemoveMember(ctx, args[0], force)
			})
		},
	}
	addForceFlag(c, &force)
	return c
}

func addForceFlag(c *cobra.Command, force *bool) {
	c.Flags().BoolVar(force, "force", false, "even if too few of the other voters answer: it may leave a cluster that can do nothing")
}

func (a *app) changeMember(c *cobra.Command, change func(context.Context, *client.Client) (api.MemberChanged, error)) error {
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	done, err := change(c.Context(), connection)
	if err != nil {
		return err
	}
	return a.tell.Data(done, func(p *tell.Page) { show.MemberChanged(p, done) })
}
