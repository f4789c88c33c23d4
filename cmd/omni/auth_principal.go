package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newAuthPrincipal(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "principal", Short: "People and services that may come with a credential", Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newPrincipalCreate(a), newPrincipalList(a), newPrincipalShow(a), newPrincipalDelete(a),
		newPrincipalSwitch(a, "enable", "Take a principal's credentials again", false),
		newPrincipalSwitch(a, "disable", "Refuse a principal's credentials, at once, without deleting them", true),
	)
	return c
}

func newPrincipalCreate(a *app) *cobra.Command {
	var body api.PrincipalBody
	var replace bool
	c := &cobra.Command{
		Use: "create NAME", Short: "Make a principal, or replace what is known of one",
		Long: `It has no token yet: omni auth token create NAME. A client certificate with the URI
spiffe://CLUSTER/principal/NAME needs none. With --replace a principal that exists gets
these roles, and no others.`,
		Example: `  omni auth principal create ann --role operator
  omni auth principal create ci --kind service --role author --role reader --replace`, Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			if !replace {
				body.Version = new(uint64)
			}
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.PutPrincipal(ctx, args[0], body)
			}, show.Changed("principal", args[0]))
		},
	}
	c.Flags().StringArrayVar(&body.Roles, "role", nil, "a role that it has; repeatable")
	c.Flags().StringVar(&body.Kind, "kind", "", "person or service")
	c.Flags().StringVar(&body.Description, "description", "", "for people to read")
	c.Flags().BoolVar(&replace, "replace", false, "also when there is one of this name")
	return c
}

func newPrincipalList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	c := &cobra.Command{
		Use: "list", Short: "List the principals", Example: `  omni auth principal list`, Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.PrincipalPage, error) {
				return connection.Principals(ctx, page.after, page.limit, options...)
			}, show.Principals)
		},
	}
	page.add(c, "principal")
	how.addFlags(c)
	return c
}

func newPrincipalShow(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use: "show NAME", Short: "Show one principal, with its tokens", Example: `  omni auth principal show ann`, Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.PrincipalAnswer, error) {
				return connection.Principal(ctx, args[0], options...)
			}, show.Principal)
		},
	}
	how.addFlags(c)
	return c
}

func newPrincipalDelete(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "delete NAME", Short: "Take a principal away, and its tokens", Example: `  omni auth principal delete ann --reason "has left"`, Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.DeletePrincipal(ctx, args[0], reason)
			}, show.Changed("deleted", args[0]))
		},
	}
	addReasonFlag(c, &reason)
	return c
}

func newPrincipalSwitch(a *app, word, short string, disabled bool) *cobra.Command {
	return &cobra.Command{
		Use: word + " NAME", Short: short, Example: "  omni auth principal " + word + " ann", Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				p, err := connection.Principal(ctx, args[0])
				if err != nil {
					return api.Done{}, err
				}
				return connection.PutPrincipal(ctx, args[0], api.PrincipalBody{
					Kind: p.Kind, Description: p.Description, Roles: p.Roles, Disabled: disabled, Version: &p.Version,
				})
			}, show.Changed(word+"d", args[0]))
		},
	}
}

func newAuthRole(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "role", Short: "What principals may do", Args: onlySubcommands, RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
		Long: `A role is a list of grants: an effect, an action and a pattern of resources, as agents
have them; docs/security.md lists actions and resources. DENY goes before ALLOW, over
all roles of a principal.`,
	}
	c.AddCommand(newRolePut(a), newRoleList(a), newRoleShow(a), newRoleDelete(a))
	return c
}

func newRolePut(a *app) *cobra.Command {
	var grants []string
	var description string
	c := &cobra.Command{
		Use: "put NAME --grant 'EFFECT ACTION RESOURCE' …", Short: "Make a role, or replace its grants",
		Example: `  omni auth role put billing --grant 'ALLOW agent.* billing/**' --grant 'DENY agent.kill **'`, Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			body := api.RoleBody{Description: description}
			for _, text := range grants {
				g, err := parseGrant(text)
				if err != nil {
					return err
				}
				body.Grants = append(body.Grants, g)
			}
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.PutRole(ctx, args[0], body)
			}, show.Changed("role", args[0]))
		},
	}
	c.Flags().StringArrayVar(&grants, "grant", nil, "effect, action and resource, with blanks between; repeatable")
	c.Flags().StringVar(&description, "description", "", "for people to read")
	return c
}

func parseGrant(text string) (g permissions.Grant, err error) {
	fields := strings.Fields(text)
	const hint = "for example --grant 'ALLOW agent.read billing/**'"
	if len(fields) != 3 {
		return g, tell.Usage(hint, "--grant %q must be an effect, an action and a resource", text)
	}
	if g.Effect.UnmarshalText([]byte(fields[0])) != nil || g.Effect == permissions.Escalate {
		return g, tell.Usage(hint, "--grant %q: effect must be ALLOW or DENY", text)
	}
	g.Action, g.Resource = fields[1], fields[2]
	return g, nil
}

func newRoleList(a *app) *cobra.Command {
	var how reading
	var page pageFlags
	c := &cobra.Command{
		Use: "list", Short: "List the roles", Example: `  omni auth role list`, Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.RolePage, error) {
				return connection.Roles(ctx, page.after, page.limit, options...)
			}, show.Roles)
		},
	}
	page.add(c, "role")
	how.addFlags(c)
	return c
}

func newRoleShow(a *app) *cobra.Command {
	var how reading
	c := &cobra.Command{
		Use: "show NAME", Short: "Show one role, with its grants", Example: `  omni auth role show operator`, Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.RoleAnswer, error) {
				return connection.Role(ctx, args[0], options...)
			}, show.Role)
		},
	}
	how.addFlags(c)
	return c
}

func newRoleDelete(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "delete NAME", Short: "Take a role away that no principal has", Example: `  omni auth role delete billing`, Args: exactly("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.changeAs(c, func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.DeleteRole(ctx, args[0], reason)
			}, show.Changed("deleted", args[0]))
		},
	}
	addReasonFlag(c, &reason)
	return c
}
