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
	body, err := c.OpenExport(ctx, from, opts...)
	if err != nil {
		return logexport.Summary{}, err
	}
	defer body.Close()
	return logexport.Copy(w, body)
}

// OpenExport gives what Export copies, to be read: what is not read to its
// verified end is not whole. The caller closes it.
func (c *Client) OpenExport(ctx context.Context, seq uint64, opts ...Option) (io.ReadCloser, error) {
	query := url.Values{}
	from(query, seq)
	return c.openFile(ctx, "export", c.prefix+"/log/export", query, opts)
}

// ExportAgent copies one agent's history to w, and what it takes to replay it,
// as package logexport has it, and verifies it on the way.
func (c *Client) ExportAgent(ctx context.Context, id string, w io.Writer, opts ...Option) (logexport.SubjectSummary, error) {
	body, err := c.OpenAgentExport(ctx, id, opts...)
	if err != nil {
		return logexport.SubjectSummary{}, err
	}
	defer body.Close()
	return logexport.CopyAgent(w, body)
}

// OpenAgentExport gives what ExportAgent copies, to be read. The caller closes
// it.
func (c *Client) OpenAgentExport(ctx context.Context, id string, opts ...Option) (io.ReadCloser, error) {
	return c.openFile(ctx, "export agent", c.prefix+"/agents/"+url.PathEscape(id)+"/export", url.Values{}, opts)
}

// ExportLedger copies a run's ledger to w, and what it takes to replay the run (RU-4),
// as package logexport has it, and verifies it on the way.
func (c *Client) ExportLedger(ctx context.Context, run string, w io.Writer, opts ...Option) (logexport.SubjectSummary, error) {
	body, err := c.OpenLedger(ctx, run, opts...)
	if err != nil {
		return logexport.SubjectSummary{}, err
	}
	defer body.Close()
	return logexport.CopyLedger(w, body)
}

// OpenLedger gives what ExportLedger copies, to be read. The caller closes it.
func (c *Client) OpenLedger(ctx context.Context, run string, opts ...Option) (io.ReadCloser, error) {
	return c.openFile(ctx, "export ledger", c.prefix+"/runs/"+url.PathEscape(run)+"/ledger", url.Values{}, opts)
}

// file is a stream whose end ends the call too.
type file struct {
	*stream
	cancel context.CancelFunc
}

// Close ends the stream.
func (f *file) Close() error {
	f.stream.Close()
	f.cancel()
	return nil
}

func (c *Client) openFile(ctx context.Context, op, path string, query url.Values, opts []Option) (*file, error) {
	s := settingsOf(opts)
	cancel := context.CancelFunc(func() {})
	if s.timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
	}
	c.consistency(query, &s)
	body, err := c.openExport(ctx, &request{op: op, method: http.MethodGet, path: path, query: query}, &s)
	if err != nil {
		cancel()
		return nil, err
	}
	return &file{body, cancel}, nil
}

// openExport finds a node that has the log.
func (c *Client) openExport(ctx context.Context, rq *request, s *settings) (*stream, error) {
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
		if isDistrusted(err) {
			if settled, err := pause.distrusted(c.family, err); settled {
				return nil, err
			}
		}
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
