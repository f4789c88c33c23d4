package client

import (
	"context"
	"io"
	"net/url"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Backup asks for a backup, as package fsm/backup has it: the state, as fresh as the
// options say, and the whole log up to it. What is read is not checked here: a stream
// that breaks ends before the backup's trailer. The caller closes it. notOnRecord says
// why the execution log does not have that it was made, or may not have it; mostly empty.
func (c *Client) Backup(ctx context.Context, opts ...Option) (body io.ReadCloser, notOnRecord string, err error) {
	from, err := c.openFile(ctx, "backup", c.prefix+"/backup", url.Values{}, opts)
	if err != nil {
		return nil, "", err
	}
	return from, from.head.Get(api.HeaderNotOnRecord), nil
}
