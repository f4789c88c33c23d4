package client

import (
	"context"
	"net/url"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// PlanRun makes a run: its id is the answer's agent.
func (c *Client) PlanRun(ctx context.Context, cmd event.PlanRun, opts ...Option) (api.Done, error) {
	return c.command(ctx, "plan-run", "/runs", cmd, opts)
}

// StartRun carries out the plan of a run.
func (c *Client) StartRun(ctx context.Context, cmd event.StartRun, opts ...Option) (api.Done, error) {
	return c.onRun(ctx, cmd.Run, "start", api.RunStartBody{Reason: cmd.Reason}, opts)
}

// PauseRun lets a run begin nothing new.
func (c *Client) PauseRun(ctx context.Context, cmd event.PauseRun, opts ...Option) (api.Done, error) {
	return c.onRun(ctx, cmd.Run, "pause", api.RunPauseBody{Reason: cmd.Reason, Trigger: cmd.Trigger, Force: cmd.Force}, opts)
}

// ResumeRun lets a run go on.
func (c *Client) ResumeRun(ctx context.Context, cmd event.ResumeRun, opts ...Option) (api.Done, error) {
	return c.onRun(ctx, cmd.Run, "resume", api.RunBody{Reason: cmd.Reason, Trigger: cmd.Trigger}, opts)
}

// KillRun ends a run and its root agent.
func (c *Client) KillRun(ctx context.Context, cmd event.KillRun, opts ...Option) (api.Done, error) {
	return c.onRun(ctx, cmd.Run, "kill", api.RunBody{Reason: cmd.Reason, Trigger: cmd.Trigger}, opts)
}

func (c *Client) onRun(ctx context.Context, run, op string, body any, opts []Option) (api.Done, error) {
	if run == "" {
		return api.Done{}, &Usage{op + "-run: a run is needed"}
	}
	return c.command(ctx, op+"-run", "/runs/"+url.PathEscape(run)+"/"+op, body, opts)
}

// Run reads one run.
func (c *Client) Run(ctx context.Context, id string, opts ...Option) (api.Run, error) {
	if id == "" {
		return api.Run{}, &Usage{"get-run: a run is needed"}
	}
	var run api.Run
	err := c.read(ctx, "get-run", "/runs/"+url.PathEscape(id), url.Values{}, settingsOf(opts), &run)
	return run, err
}

// Runs reads one page of a list.
func (c *Client) Runs(ctx context.Context, q api.RunQuery, opts ...Option) (api.RunPage, error) {
	query := url.Values{}
	if q.State != "" {
		query.Set("state", q.State)
	}
	for key, value := range q.Labels {
		query.Add("label", key+"="+value)
	}
	if q.After != "" {
		query.Set("after", q.After)
	}
	limited(query, q.Limit)
	var page api.RunPage
	err := c.read(ctx, "list-runs", "/runs", query, settingsOf(opts), &page)
	return page, err
}
