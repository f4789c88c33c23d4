package client_test

import (
	"bufio"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/client"
)

// CL-2: a command that a node has taken in whole before its process ended may have had its
// effect, though nobody listens there any more when it is sent again.
func TestNodeThatEndsWithACommand(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := listener.Accept()
		if !assert.NoError(t, err) {
			return
		}
		defer conn.Close()
		from := bufio.NewReader(conn)
		for _, answer := range []string{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", ""} {
			request, err := http.ReadRequest(from)
			if !assert.NoError(t, err) {
				return
			}
			_, err = from.Discard(int(request.ContentLength))
			assert.NoError(t, err)
			assert.NotEmpty(t, request.Header.Get("Idempotency-Key"))
			if answer == "" {
				assert.NoError(t, listener.Close())
				return
			}
			_, err = conn.Write([]byte(answer))
			assert.NoError(t, err)
		}
	}()
	c := connect(t, client.Options{}, "http://"+listener.Addr().String())
	_, err = c.Define(within(t, 20*time.Second), event.Define{}, client.IdempotencyKey("one"))
	require.NoError(t, err, "and the connection stays")
	_, err = c.Define(within(t, 20*time.Second), event.Define{}, client.IdempotencyKey("two"), client.Timeout(300*time.Millisecond))
	<-ended
	var unknown *client.Unknown
	require.ErrorAs(t, err, &unknown)
	assert.False(t, client.Definite(err))
}
