package main

import (
	"context"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAuthCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "auth",
		Short: "Who may ask the cluster for what",
		Long: `Until omni auth bootstrap nobody is judged: whoever reaches the API may do everything.
From then on every request needs a token, or a client certificate, of a principal,
whose roles say what it may do. DENY goes before ALLOW, and what no role allows is
denied. docs/security.md tells how to set it up.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newAuthBootstrap(a), newAuthStatus(a), newAuthWhoami(a), newAuthPrincipal(a), newAuthRole(a), newAuthToken(a))
	return c
}

// minting is a token that is to be made.
type minting struct {
	out         string
	expires     time.Duration
	description string
}

func (m *minting) add(c *cobra.Command) {
	c.Flags().StringVar(&m.out, "out", "", "file that the token is written to, for its owner alone; it must not exist")
	c.Flags().DurationVar(&m.expires, "expires", 0, "how long the token is in force, such as 720h; for ever when 0")
	c.Flags().StringVar(&m.description, "description", "", "what it is for")
}

func (m *minting) notAfter() (int64, error) {
	switch {
	case m.expires < 0:
		return 0, tell.Usage("for example --expires 720h", "--expires is %v, must be positive", m.expires)
	case m.expires == 0:
		return 0, nil
	}
	return time.Now().Add(m.expires).UnixMilli(), nil
}

// made is a new token, which is shown once.
type made struct {
	Principal string `json:"principal"`
	ID        string `json:"id"`
	Token     string `json:"token,omitempty"`
	File      string `json:"file,omitempty"`
	NotAfter  int64  `json:"not_after_ms,omitempty"`
	api.Done
}

// mint makes a token, has the cluster told of its hash, and hands it over. A file is
// there before the cluster is told: a token that nobody has is no use.
func (m *minting) mint(a *app, c *cobra.Command, principal string, send func(ctx context.Context, connection *client.Client, token api.Bearer, notAfter int64) (api.Done, error)) error {
	notAfter, err := m.notAfter()
	if err != nil {
		return err
	}
	token := api.NewBearer()
	if m.out != "" {
		if err := keepToken(m.out, token); err != nil {
			return err
		}
	}
	connection, err := a.connect()
	if err == nil {
		defer connection.Close()
		var done api.Done
		if done, err = send(c.Context(), connection, token, notAfter); err == nil || a.isKnown(c.Context(), token) {
			told := made{Principal: principal, ID: token.ID, Token: token.String(), NotAfter: notAfter, Done: done}
			if m.out != "" {
				told.Token, told.File = "", m.out
			}
			return a.tell.Data(told, func(p *tell.Page) { show.NewToken(p, told.Principal, told.ID, told.Token, told.File, told.NotAfter) })
		}
	}
	if m.out != "" && tell.ReportOf(err).Exit == api.ExitRefused {
		_ = os.Remove(m.out) // the cluster does not know it
	}
	return err
}

// isKnown reports whether the cluster has a token whose making was refused: it was made
// by the same request before, of which the answer was lost, and whoever asked is judged
// by now.
func (a *app) isKnown(ctx context.Context, token api.Bearer) bool {
	connection, err := a.connectWith(token.String())
	if err != nil {
		return false
	}
	defer connection.Close()
	who, err := connection.Whoami(ctx)
	return err == nil && who.Credential == token.ID
}

func keepToken(name string, token api.Bearer) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return tell.Usage("name a file that does not exist yet", "--out: %v", err)
	}
	_, err = f.WriteString(token.String() + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func newAuthBootstrap(a *app) *cobra.Command {
	var m minting
	c := &cobra.Command{
		Use:   "bootstrap",
		Short: "Turn authorization on, once and for ever",
		Long: `Makes the principal admin, whose role admin may do everything, its first token, and the
roles reader, operator, author and worker. From this event on who has no token, and no
client certificate, is refused. It cannot be undone, and is refused the second time.

The token is made here and shown once; the cluster is told its hash.`,
		Example: `  omni auth bootstrap --out admin.token
  export OMNI_TOKEN="$(cat admin.token)"`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return m.mint(a, c, "admin", func(ctx context.Context, connection *client.Client, token api.Bearer, notAfter int64) (api.Done, error) {
				return connection.Bootstrap(ctx, api.BootstrapBody{Credential: token.ID, Hash: token.Hash(), NotAfterMillis: notAfter, Description: m.description})
			})
		},
	}
	m.add(c)
	return c
}

func newAuthStatus(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use: "status", Short: "Is authorization on?", Example: `  omni auth status`, Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.AuthStatus, error) {
				return connection.AuthStatus(ctx, options...)
			}, show.AuthStatus)
		},
	}
	how.addFlags(c)
	return c
}

func newAuthWhoami(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use: "whoami", Short: "Who your requests come from", Example: `  omni auth whoami`, Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.Whoami, error) {
				return connection.Whoami(ctx, options...)
			}, show.Whoami)
		},
	}
	how.addFlags(c)
	return c
}

func newAuthToken(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Tokens of principals", Args: onlySubcommands, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		Long: `A token is shown once, when it is made: the cluster keeps its hash. Agents' tokens, which
say what agents hold, are another thing: omni token.`,
	}
	c.AddCommand(newAuthTokenCreate(a), newAuthTokenList(a), newAuthTokenRevoke(a))
	return c
}

func newAuthTokenCreate(a *app) *cobra.Command {
	var m minting
	c := &cobra.Command{
		Use: "create PRINCIPAL", Short: "Make a token of a principal",
		Example: `  omni auth token create ann --expires 720h --out ann.token`, Args: exactly("PRINCIPAL"),
		RunE: func(c *cobra.Command, args []string) error {
			return m.mint(a, c, args[0], func(ctx context.Context, connection *client.Client, token api.Bearer, notAfter int64) (api.Done, error) {
				return connection.CreateCredential(ctx, api.CredentialBody{
					ID: token.ID, Principal: args[0], Hash: token.Hash(), NotAfterMillis: notAfter, Description: m.description,
				})
			})
		},
	}
	m.add(c)
	return c
}

func newAuthTokenList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	var principal string
	c := &cobra.Command{
		Use: "list", Short: "List tokens, and certificates that were revoked", Example: `  omni auth token list --principal ann`, Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.CredentialPage, error) {
				return connection.Credentials(ctx, principal, page.after, page.limit, options...)
			}, show.Credentials)
		},
	}
	c.Flags().StringVar(&principal, "principal", "", "only this principal's")
	page.add(c, "token")
	how.addFlags(c)
	return c
}

func newAuthTokenRevoke(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "revoke ID", Short: "End a token, or a client certificate, at once",
		Long: `What comes behind it in the log is refused, whichever node took it, and what lasts ends:
watches, exports, workers' polls. ID is the token's id, which is no secret, or cert: and
the serial number of a client certificate in hexadecimal.`,
		Example: `  omni auth token revoke 41o7c1m3gkqj8p2d --reason "the laptop is lost"
  omni auth token revoke cert:3af09b`, Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.RevokeCredential(ctx, args[0], api.RevokeCredentialBody{Reason: reason})
			}, show.Changed("revoked", args[0]))
		},
	}
	addReasonFlag(c, &reason)
	return c
}
