package client_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// A backup is asked for at any node, or at one; a node that lacks the beginning of
// the log is passed by.
func TestBackup(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	c := connect(t, client.Options{Timeout: 5 * time.Second}, urls...)
	ctx := within(t, 20*time.Second)
	take := func(opts ...client.Option) (backup.Summary, error) {
		body, _, err := c.Backup(ctx, opts...)
		if err != nil {
			return backup.Summary{}, err
		}
		defer func() { require.NoError(t, body.Close()) }()
		return backup.Copy(ctx, io.Discard, body, nil)
	}
	_, err := c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
	sum, err := take(client.Node("n2"))
	require.NoError(t, err)
	assert.Equal(t, "n2", sum.Node)
	require.NoError(t, g.Nodes[0].Forget())
	for range 3 {
		sum, err = take()
		require.NoError(t, err)
		assert.Equal(t, "n2", sum.Node)
	}
	g.Nodes[1].Hold()
	_, err = c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
	_, err = take(client.Node("n2"), client.Consistency("stale"))
	require.NoError(t, err, "as old as it is")

	bounded, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_, _, err = c.Backup(bounded, client.Node("n1"))
	require.ErrorContains(t, err, "HISTORY_BEHIND")
	body, _, err := c.Backup(ctx, client.Node("n2"), client.Consistency("stale"))
	require.NoError(t, err)
	require.NoError(t, body.Close())
	_, err = backup.Copy(ctx, new(bytes.Buffer), body, nil)
	require.Error(t, err, "whoever ends it early has no backup")
}
