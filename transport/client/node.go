package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/omnikernel/omnikernel/transport/api"
)

// NodeState asks a node where it stands in its lifecycle; the option Node says
// which.
func (c *Client) NodeState(ctx context.Context, opts ...Option) (api.NodeState, error) {
	var state api.NodeState
	err := c.aboutNode(ctx, "node state", "", nil, &state, opts)
	return state, err
}

// NodeJournal asks a node what is on record of its lifecycle after a seq: the
// newest entries, when there are more than limit; limit 0 is as many as a page has.
func (c *Client) NodeJournal(ctx context.Context, after uint64, limit int, opts ...Option) (api.NodeJournal, error) {
	query := url.Values{"after": {strconv.FormatUint(after, 10)}}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	var journal api.NodeJournal
	err := c.aboutNode(ctx, "node journal", "/journal", query, &journal, opts)
	return journal, err
}

func (c *Client) aboutNode(ctx context.Context, op, path string, query url.Values, into any, opts []Option) error {
	k := &call{
		request:  request{op: op, method: http.MethodGet, path: "/v1/node" + path, query: query},
		settings: settingsOf(opts), into: into, again: true,
	}
	return k.run(ctx, c.family)
}

// The orders that a node takes.
const (
	Pause   = "pause"
	Estop   = "estop"
	Resume  = "resume"
	Restart = "restart"
)

// OrderNode asks a node to pause, stop at once, resume or restart; the option Node
// says which.
func (c *Client) OrderNode(ctx context.Context, order string, how api.NodeOrder, opts ...Option) (api.NodeOrdered, error) {
	var done api.NodeOrdered
	body, err := json.Marshal(how)
	if err != nil {
		return done, &Usage{order + ": " + err.Error()}
	}
	k := &call{
		request:  request{op: order, method: http.MethodPost, path: "/v1/node/" + order, body: body},
		settings: settingsOf(opts), into: &done, changes: true, final: true, // people wait for it
	}
	if k.node == "" {
		return done, &Usage{order + ": a node is needed"}
	}
	return done, k.run(ctx, c.family)
}
