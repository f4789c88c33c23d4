package client

import (
	"context"
	"net/url"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Tasks reads one page of the calls that wait for a person.
func (c *Client) Tasks(ctx context.Context, q api.TaskQuery, opts ...Option) (api.TaskPage, error) {
	query := url.Values{}
	if q.Agent != "" {
		query.Set("agent", q.Agent)
	}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	var page api.TaskPage
	return page, c.read(ctx, "list", "/tasks", query, settingsOf(opts), &page)
}

// Task reads one of them.
func (c *Client) Task(ctx context.Context, task string, opts ...Option) (api.TaskAnswer, error) {
	return get[api.TaskAnswer](ctx, c, "show", "/tasks/", task, "", url.Values{}, opts)
}

// CompleteTask answers a call that waits for a person.
func (c *Client) CompleteTask(ctx context.Context, task string, result value.Raw, opts ...Option) (api.Done, error) {
	if task == "" {
		return api.Done{}, &Usage{"complete: a task is needed"}
	}
	return c.command(ctx, "complete", "/tasks/"+url.PathEscape(task)+"/complete", api.CompleteBody{Result: result}, opts)
}

// RejectTask says that nobody will answer a call that waits for a person.
func (c *Client) RejectTask(ctx context.Context, task, reason string, opts ...Option) (api.Done, error) {
	if task == "" {
		return api.Done{}, &Usage{"reject: a task is needed"}
	}
	return c.command(ctx, "reject", "/tasks/"+url.PathEscape(task)+"/reject", api.RejectBody{Reason: reason}, opts)
}
