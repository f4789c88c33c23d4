package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// Export copies the execution log from the record from on (0 is 1) to w, as
// package logexport has it, and verifies it on the way. A stream that breaks is
// an error, and what w has got by then is not whole.
func (c *Client) Export(ctx context.Context, from uint64, w io.Writer, opts ...Option) (logexport.Summary, error) {
	s := settingsOf(opts)
	if s.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	body, err := c.openExport(ctx, from, &s)
	if err != nil {
		return logexport.Summary{}, err
	}
	defer body.Close()
	return logexport.Copy(w, body)
}

// openExport finds a node that has the log.
func (c *Client) openExport(ctx context.Context, seq uint64, s *settings) (*stream, error) {
	query := url.Values{}
	from(query, seq)
	c.consistency(query, s)
	rq := &request{op: "export", method: http.MethodGet, path: c.prefix + "/log/export", query: query}
	to, err := c.choose(ctx, s, false)
	if err != nil {
		return nil, err
	}
	pause := &call{request: *rq, settings: *s}
	asked := ctx
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		asked, cancel = context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
	}
	for {
		body, err := c.stream(ctx, to, rq)
		if err == nil {
			return body, nil
		}
		pause.said, pause.cause = nil, err
		if errors.As(err, &pause.said) {
			if settled, err := pause.answered(asked, c.family); settled {
				return nil, err
			}
		}
		next, wait := pause.next(c.family, to)
		if asked.Err() != nil || (wait && !pause.pause(asked)) {
			return nil, pause.givenUp(asked, c.family)
		}
		to = next
	}
}
