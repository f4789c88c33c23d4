package client

import (
	"context"
	"net/url"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// RegisterTool registers a tool, or another revision of one. The answer's version is
// the revision; one lower than the answer's busSeq was there before.
func (c *Client) RegisterTool(ctx context.Context, cmd event.RegisterTool, opts ...Option) (api.Done, error) {
	return c.command(ctx, "register", "/tools", cmd.Manifest, opts)
}

// DeregisterTool takes a tool away from new calls.
func (c *Client) DeregisterTool(ctx context.Context, cmd event.DeregisterTool, opts ...Option) (api.Done, error) {
	if cmd.Name == "" {
		return api.Done{}, &Usage{"deregister: the name of a tool is needed"}
	}
	return c.command(ctx, "deregister", "/tools/"+url.PathEscape(cmd.Name)+"/deregister", api.DeregisterBody{Reason: cmd.Reason}, opts)
}

// Tool reads one registered tool, with its manifest.
func (c *Client) Tool(ctx context.Context, name string, opts ...Option) (api.Tool, error) {
	return get[api.Tool](ctx, c, "show", "/tools/", name, "", url.Values{}, opts)
}

// Tools reads one page of the registered tools, by name.
func (c *Client) Tools(ctx context.Context, q api.ToolQuery, opts ...Option) (api.ToolPage, error) {
	query := url.Values{}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	var page api.ToolPage
	return page, c.read(ctx, "list", "/tools", query, settingsOf(opts), &page)
}
