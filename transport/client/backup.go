package client

import (
	"context"
	"io"
	"net/url"
)

// Backup asks for a backup, as package fsm/backup has it: the state, as fresh as the
// options say, and the whole log up to it. What is read is not checked here: a stream
// that breaks ends before the backup's trailer. The caller closes it.
func (c *Client) Backup(ctx context.Context, opts ...Option) (io.ReadCloser, error) {
	return c.openFile(ctx, "backup", c.prefix+"/backup", url.Values{}, opts)
}
