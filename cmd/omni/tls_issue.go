package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/certs"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

func newTLSIssue(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "issue",
		Short: "Sign a certificate for a node or a principal",
		Args:  onlySubcommands,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTLSIssueNode(a), newTLSIssuePrincipal(a))
	return c
}

func newTLSIssueNode(a *app) *cobra.Command {
	var (
		dir   certs.Dir
		hosts []string
		life  time.Duration
		force bool
	)
	c := &cobra.Command{
		Use:   "node ID",
		Short: "Sign a certificate for a node",
		Long: `Makes node-ID.pem and node-ID-key.pem. The certificate says of which cluster and which
node it is, as spiffe://CLUSTER/node/ID: that is what other nodes look at. --host names
what clients call the node by; localhost, 127.0.0.1 and ::1 are always there.

With --force another one takes its place, for the same hosts unless others are given.`,
		Example: `  omni tls issue node n1 --host 10.0.0.1 --host db1.example.com
  omni tls issue node n1 --force`,
		Args: exactly("ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.issue(dir, certs.Request{Kind: identity.Node, Name: args[0], Hosts: hosts, Life: life, Force: force})
		},
	}
	flags := c.Flags()
	addDir(flags, &dir)
	flags.StringArrayVar(&hosts, "host", nil, "address or name by which clients reach the node; repeatable")
	flags.DurationVar(&life, "life", authority.NodeLife, "how long it lives")
	flags.BoolVar(&force, "force", false, "replace the one that is there")
	return c
}

func newTLSIssuePrincipal(a *app) *cobra.Command {
	var (
		dir   certs.Dir
		life  time.Duration
		force bool
	)
	c := &cobra.Command{
		Use:   "principal NAME",
		Short: "Sign a certificate for a person or a program",
		Long: `Makes principal-NAME.pem and principal-NAME-key.pem, by which a client of the API proves
who it is: spiffe://CLUSTER/principal/NAME. What it may do is not in it.`,
		Example: `  omni tls issue principal ann
  omni tls issue principal ann --life 24h --force`,
		Args: exactly("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.issue(dir, certs.Request{Kind: identity.Principal, Name: args[0], Life: life, Force: force})
		},
	}
	flags := c.Flags()
	addDir(flags, &dir)
	flags.DurationVar(&life, "life", authority.PrincipalLife, "how long it lives")
	flags.BoolVar(&force, "force", false, "replace the one that is there")
	return c
}

func (a *app) issue(dir certs.Dir, r certs.Request) error {
	if r.Life <= 0 {
		return tell.Usage("", "--life is %v, must be positive", r.Life)
	}
	made, err := dir.Issue(r)
	return a.tellMade(made, err)
}
