package client

import (
	"context"
	"io"
	"net/http"
	"time"
)

// silence is how long a stream may be silent before its node is given up: a
// watch gives a sign of life every 15 s.
const silence = 45 * time.Second

// stream is an answer that is read as it comes. It ends when a read waits too
// long; the time between reads is the reader's own.
type stream struct {
	body  io.ReadCloser
	head  http.Header
	quiet *time.Timer // cancels the request
	end   context.CancelFunc
}

// stream asks one server, and gives its answer's body when that is what was
// asked for. The error is an *api.Error when the server said it.
func (f *family) stream(ctx context.Context, to *server, rq *request) (*stream, error) {
	ctx, cancel := context.WithCancel(ctx)
	quiet := time.AfterFunc(f.options.Attempt, cancel) // until the header is there
	response, err := f.attempt(ctx, to, rq)
	if err == nil && response.StatusCode != http.StatusOK {
		var body []byte
		if body, err = readAnswer(response); err == nil {
			err = saidBy(to, response.StatusCode, body)
		}
	}
	quiet.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	return &stream{body: response.Body, head: response.Header, quiet: quiet, end: cancel}, nil
}

// Read implements io.Reader.
func (s *stream) Read(b []byte) (int, error) {
	s.quiet.Reset(silence)
	defer s.quiet.Stop()
	return s.body.Read(b)
}

// Close ends the request.
func (s *stream) Close() {
	s.quiet.Stop()
	s.end()
	_ = s.body.Close() // read only: nothing to lose
}
