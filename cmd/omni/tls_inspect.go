package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/certs"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

func newTLSInspect(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect [FILE …]",
		Short: "Whose a certificate is, of which cluster, until when, and who signed it",
		Long: `Tells what the certificates of files say. With --server it asks what a running node
shows: its API's address, or its port for other nodes. With --ca-cert it also says whether
they are trusted by that authority.

The exit code is 1 when one is over, not valid yet, or not trusted; one that ends soon,
within 30 days or a third of its life, is told of.`,
		Example: `  omni tls inspect tls/*.pem
  omni tls inspect --server 10.0.0.1:7700 --ca-cert tls/ca.pem -o json`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && len(a.servers) == 0 {
				return tell.Usage("omni tls inspect FILE, or --server HOST:PORT for what a node shows", "name a file or a server")
			}
			found, err := a.inspect(c.Context(), args)
			if err != nil {
				return aboutCerts(err)
			}
			if err := a.tell.Data(found, func(p *tell.Page) { show.Certificates(p, found) }); err != nil {
				return err
			}
			if bad := found.Bad(); len(bad) > 0 {
				return tell.NotHeld("%s", strings.Join(bad, "; "))
			}
			return nil
		},
	}
}

func (a *app) inspect(ctx context.Context, files []string) (found certs.Inspection, err error) {
	trust, err := certs.ReadTrust(a.credentials.named().ca)
	if err != nil {
		return found, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	now := time.Now()
	for _, file := range files {
		if err := found.Inspect(file, trust, now); err != nil {
			return found, err
		}
	}
	for _, server := range a.servers {
		if err := found.Ask(ctx, server, trust, now); err != nil {
			return found, err
		}
	}
	return found, nil
}
