package client

import (
	"context"
	"net/url"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Segments reads the whole manifest of the log's sealed segments, as one page:
// what it carries of the tail, index, node and lag is the last page's.
func (c *Client) Segments(ctx context.Context, opts ...Option) (api.LogSegments, error) {
	var whole api.LogSegments
	for {
		query := url.Values{}
		from(query, whole.Next)
		limited(query, api.MaxPageItems)
		var page api.LogSegments
		if err := c.read(ctx, "segments", "/log/segments", query, settingsOf(opts), &page); err != nil {
			return api.LogSegments{}, err
		}
		page.Segments = append(whole.Segments, page.Segments...)
		if whole = page; whole.Next == 0 {
			return whole, nil
		}
	}
}
