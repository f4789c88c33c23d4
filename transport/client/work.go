package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// PollWork waits for calls of tools whose adapter is worker, as long as the body says;
// none came when the answer has none. A poll whose answer was lost is made again: a call
// that it took is lent again when its lease has run out, or is unknown, if it must
// not be made twice.
func (c *Client) PollWork(ctx context.Context, body api.PollBody, opts ...Option) (api.Work, error) {
	var work api.Work
	return work, c.work(ctx, "poll", "/poll", body, time.Duration(body.WaitMillis)*time.Millisecond, opts, &work)
}

// Heartbeat keeps a call: its lease begins anew. STALE_RESULT and LEASE_LOST say that it
// is over for the worker.
func (c *Client) Heartbeat(ctx context.Context, lease string, opts ...Option) (api.Heartbeat, error) {
	var beat api.Heartbeat
	return beat, c.work(ctx, "heartbeat", leasePath(lease, "heartbeat"), nil, 0, opts, &beat)
}

// CompleteCall hands a call's result in. After an answer was lost it is sent again;
// STALE_RESULT says then that the call is over.
func (c *Client) CompleteCall(ctx context.Context, lease string, body api.CompleteCallBody, opts ...Option) (api.Ended, error) {
	return c.endCall(ctx, "complete", lease, body, opts)
}

// FailCall says that a call failed.
func (c *Client) FailCall(ctx context.Context, lease string, body api.FailCallBody, opts ...Option) (api.Ended, error) {
	return c.endCall(ctx, "fail", lease, body, opts)
}

func (c *Client) endCall(ctx context.Context, op, lease string, body any, opts []Option) (api.Ended, error) {
	var ended api.Ended
	err := c.work(ctx, op, leasePath(lease, op), body, 0, opts, &ended)
	c.saw(ended.Index)
	return ended, err
}

// Lending reads how the tools stand whose calls are lent to workers, from the leader.
func (c *Client) Lending(ctx context.Context, opts ...Option) (api.Lending, error) {
	var lending api.Lending
	k := &call{
		request:  request{op: "list", method: http.MethodGet, path: c.prefix + "/workers"},
		settings: settingsOf(opts), into: &lending, again: true, toLeader: true,
	}
	return lending, k.run(ctx, c.family)
}

func leasePath(lease, op string) string { return "/leases/" + url.PathEscape(lease) + "/" + op }

// work asks the leader until it answers. Nothing of it is a command: what happened twice
// the lease tells.
func (c *Client) work(ctx context.Context, op, path string, body any, wait time.Duration, opts []Option, into any) error {
	k := &call{
		request:  request{op: op, method: http.MethodPost, path: c.prefix + "/workers" + path},
		settings: settingsOf(opts), into: into, again: true, toLeader: true, waits: wait,
	}
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return &Usage{op + ": " + err.Error()}
		}
		k.body = encoded
	}
	if _, bounded := ctx.Deadline(); k.timeout == 0 && !bounded {
		k.timeout = wait + c.options.Timeout
	}
	return k.run(ctx, c.family)
}
