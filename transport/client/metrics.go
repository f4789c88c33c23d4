package client

import (
	"context"
	"io"
	"net/url"
)

// Metrics gives a node's metrics, in Prometheus' text format, to be read; the option Node
// says whose. The caller closes it.
func (c *Client) Metrics(ctx context.Context, opts ...Option) (io.ReadCloser, error) {
	return c.openFile(ctx, "metrics", "/metrics", url.Values{}, opts)
}
