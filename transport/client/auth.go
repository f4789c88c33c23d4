package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/omnikernel/omnikernel/transport/api"
)

// bearer adds the client's token to a request.
func (f *family) bearer(h http.Header) {
	if f.options.Token != "" {
		h["Authorization"] = []string{"Bearer " + f.options.Token}
	}
}

// Bootstrap turns authorization on.
func (c *Client) Bootstrap(ctx context.Context, body api.BootstrapBody, opts ...Option) (api.Done, error) {
	return c.command(ctx, "bootstrap", "/auth/bootstrap", body, opts)
}

// PutPrincipal makes a principal, or replaces what is known of one.
func (c *Client) PutPrincipal(ctx context.Context, name string, body api.PrincipalBody, opts ...Option) (api.Done, error) {
	return c.named(ctx, "principal", "/auth/principals/", name, "", body, opts)
}

// DeletePrincipal takes a principal away, and its tokens.
func (c *Client) DeletePrincipal(ctx context.Context, name, reason string, opts ...Option) (api.Done, error) {
	return c.named(ctx, "delete", "/auth/principals/", name, "/delete", api.ReasonBody{Reason: reason}, opts)
}

// PutRole makes a role, or replaces its grants.
func (c *Client) PutRole(ctx context.Context, name string, body api.RoleBody, opts ...Option) (api.Done, error) {
	return c.named(ctx, "role", "/auth/roles/", name, "", body, opts)
}

// DeleteRole takes a role away that no principal has.
func (c *Client) DeleteRole(ctx context.Context, name, reason string, opts ...Option) (api.Done, error) {
	return c.named(ctx, "delete", "/auth/roles/", name, "/delete", api.ReasonBody{Reason: reason}, opts)
}

// CreateCredential makes a token, of which the caller keeps the secret.
func (c *Client) CreateCredential(ctx context.Context, body api.CredentialBody, opts ...Option) (api.Done, error) {
	return c.command(ctx, "token", "/auth/credentials", body, opts)
}

// RevokeCredential ends a token, or a client certificate.
func (c *Client) RevokeCredential(ctx context.Context, id string, body api.RevokeCredentialBody, opts ...Option) (api.Done, error) {
	return c.named(ctx, "revoke", "/auth/credentials/", id, "/revoke", body, opts)
}

// named sends a command about something that has a name.
func (c *Client) named(ctx context.Context, op, path, name, suffix string, body any, opts []Option) (api.Done, error) {
	if name == "" {
		return api.Done{}, &Usage{op + ": a name is needed"}
	}
	return c.command(ctx, op, path+url.PathEscape(name)+suffix, body, opts)
}

// AuthStatus tells whether callers are judged.
func (c *Client) AuthStatus(ctx context.Context, opts ...Option) (api.AuthStatus, error) {
	var told api.AuthStatus
	return told, c.read(ctx, "status", "/auth/status", url.Values{}, settingsOf(opts), &told)
}

// Whoami tells who the client's requests come from.
func (c *Client) Whoami(ctx context.Context, opts ...Option) (api.Whoami, error) {
	var told api.Whoami
	return told, c.read(ctx, "whoami", "/auth/whoami", url.Values{}, settingsOf(opts), &told)
}

// Principal reads one principal, with its tokens.
func (c *Client) Principal(ctx context.Context, name string, opts ...Option) (api.PrincipalAnswer, error) {
	return get[api.PrincipalAnswer](ctx, c, "show", "/auth/principals/", name, "", url.Values{}, opts)
}

// Principals reads one page of the principals, by name.
func (c *Client) Principals(ctx context.Context, after string, limit int, opts ...Option) (api.PrincipalPage, error) {
	var page api.PrincipalPage
	return page, c.read(ctx, "list", "/auth/principals", pageOf(after, limit), settingsOf(opts), &page)
}

// Role reads one role, with its grants.
func (c *Client) Role(ctx context.Context, name string, opts ...Option) (api.RoleAnswer, error) {
	return get[api.RoleAnswer](ctx, c, "show", "/auth/roles/", name, "", url.Values{}, opts)
}

// Roles reads one page of the roles, by name.
func (c *Client) Roles(ctx context.Context, after string, limit int, opts ...Option) (api.RolePage, error) {
	var page api.RolePage
	return page, c.read(ctx, "list", "/auth/roles", pageOf(after, limit), settingsOf(opts), &page)
}

// Credentials reads one page of the credentials, by id; with principal only its own.
func (c *Client) Credentials(ctx context.Context, principal, after string, limit int, opts ...Option) (api.CredentialPage, error) {
	query := pageOf(after, limit)
	if principal != "" {
		query.Set("principal", principal)
	}
	var page api.CredentialPage
	return page, c.read(ctx, "list", "/auth/credentials", query, settingsOf(opts), &page)
}

func pageOf(after string, limit int) url.Values {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	limited(query, limit)
	return query
}
