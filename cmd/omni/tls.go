package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cmd/omni/certs"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

func newTLSCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "tls",
		Short: "Certificates: an authority of the cluster's own, and what it signs",
		Long: `Makes the certificates by which nodes and people prove who they are. The directory
with the authority's key belongs on one safe machine, which need not be a node: nodes get
ca.pem and their own two files.

docs/tls.md tells the whole way, and how to bring certificates of another authority.`,
		Example: `  omni tls init --cluster omni
  omni tls issue node n1 --host 10.0.0.1
  omni tls issue principal ann
  omni tls inspect tls/node-n1.pem`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newTLSInit(a), newTLSIssue(a), newTLSRotate(a), newTLSInspect(a))
	return c
}

// addDir adds the flag that says where the certificates are.
func addDir(flags *pflag.FlagSet, d *certs.Dir) {
	d.Now = time.Now
	flags.StringVar(&d.Path, "dir", certs.DefaultPath, "directory of the authority and of what it signed")
}

func newTLSInit(a *app) *cobra.Command {
	var (
		dir     certs.Dir
		cluster string
		life    time.Duration
		force   bool
	)
	c := &cobra.Command{
		Use:   "init",
		Short: "Make the authority of a cluster",
		Long: `Makes a key and a certificate that signs all others of one cluster: ca.pem, which
everybody trusts, and ca-key.pem, which signs. Nothing that is there is replaced without
--force.`,
		Example: `  omni tls init --cluster omni
  omni tls init --cluster omni --dir ~/omni-tls`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if life < time.Hour {
				return tell.Usage("", "--life is %v, must be at least 1h", life)
			}
			made, err := dir.Init(cluster, life, force)
			return a.tellMade(made, err)
		},
	}
	flags := c.Flags()
	addDir(flags, &dir)
	flags.StringVar(&cluster, "cluster", "omni", "the cluster's id, as omni server has it")
	flags.DurationVar(&life, "life", authority.Life, "how long the authority lives")
	flags.BoolVar(&force, "force", false, "replace the authority that is there: all that it signed is worth nothing then")
	return c
}

func newTLSRotate(a *app) *cobra.Command {
	var (
		dir           certs.Dir
		life          time.Duration
		finish, force bool
	)
	c := &cobra.Command{
		Use:   "rotate",
		Short: "Go over to another authority, without a stop",
		Long: `Makes another authority, which signs from now on. ca.pem then holds both, so that
certificates of either are trusted:

  1. omni tls rotate; put ca.pem in place on every node and at every client
  2. issue every certificate anew, with --force, and put it in place, one node after the other
  3. omni tls rotate --finish; put ca.pem, which holds the new one only, in place again

Nodes take new files up by themselves within seconds: nothing is restarted. omni node
status says what a node has in use.`,
		Example: `  omni tls rotate
  omni tls issue node n1 --force
  omni tls rotate --finish`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if life < time.Hour {
				return tell.Usage("", "--life is %v, must be at least 1h", life)
			}
			if force && !finish {
				return tell.Usage("", "--force goes with --finish only")
			}
			if finish {
				made, err := dir.Finish(force)
				return a.tellMade(made, err)
			}
			made, err := dir.Rotate(life)
			return a.tellMade(made, err)
		},
	}
	flags := c.Flags()
	addDir(flags, &dir)
	flags.DurationVar(&life, "life", authority.Life, "how long the new authority lives")
	flags.BoolVar(&finish, "finish", false, "forget the authority before this one")
	flags.BoolVar(&force, "force", false, "with --finish: also while certificates in the directory are still signed by it")
	return c
}

// tellMade tells what was written, or why not.
func (a *app) tellMade(made certs.Made, err error) error {
	if err != nil {
		return aboutCerts(err)
	}
	return a.tell.Data(made, func(p *tell.Page) { show.CertificateMade(p, made) })
}

// aboutCerts gives a problem of the directory its hint.
func aboutCerts(err error) error {
	var problem *certs.Problem
	if errors.As(err, &problem) {
		return tell.Refused(problem.Hint, "%s", problem.Rule)
	}
	return err
}
