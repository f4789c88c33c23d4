package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Fetch gets what is at a path of a node's API as it is, up to max bytes, with its status:
// for people who look at nodes, not for programs that use them. Longer answers are cut.
// It is asked once; the option Node says whom.
func (c *Client) Fetch(ctx context.Context, path string, query url.Values, max int64, opts ...Option) (status int, body []byte, cut bool, err error) {
	s := settingsOf(opts)
	to, err := c.choose(ctx, &s, false)
	if err != nil {
		return 0, nil, false, err
	}
	response, err := c.attempt(ctx, to, &request{op: "fetch", method: http.MethodGet, path: path, query: query})
	if err != nil {
		return 0, nil, false, &Unreachable{Op: "fetch", Servers: []string{to.name}, Cause: err}
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, max+1))
	if int64(len(body)) > max {
		body, cut = body[:max], true
	}
	if err != nil {
		err = fmt.Errorf("%s%s: %w", to.name, path, err)
	}
	return response.StatusCode, body, cut, err
}

// KernelPath is where the API has what belongs to the client's kernel.
func (c *Client) KernelPath() string { return "/v1/kernels/" + url.PathEscape(c.options.Kernel) }

// LogSegmentsPath is where a node lists the sealed segments of its log.
func (c *Client) LogSegmentsPath() (path string, query url.Values) {
	return c.KernelPath() + "/log/segments", url.Values{"consistency": {api.Stale}, "limit": {"1000"}}
}
