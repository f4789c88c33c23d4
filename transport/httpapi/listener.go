package httpapi

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// tooMany is all that a connection beyond the bound is told: a whole answer.
var tooMany = func() []byte {
	body := `{"code":"` + api.CodeTooManyConns + `","definite":true,"message":"the node has as many connections as it takes"}`
	return []byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nRetry-After: 1\r\nConnection: close\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}()

// bounded accepts as many connections as there are places, and turns the rest
// away with an answer instead of leaving them waiting.
type bounded struct {
	net.Listener
	places *callers.Places
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addressOf(conn.RemoteAddr().String())
		if b.places.Take(from, 1) == callers.Free {
			return &counted{Conn: conn, left: func() { b.places.Back(from, 1) }}, nil
		}
		turnAway(conn)
	}
}

// turnAway never waits: a fresh connection's send buffer holds the answer.
func turnAway(conn net.Conn) {
	if conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = conn.Write(tooMany) // the connection ends either way
	}
	_ = conn.Close()
}

// counted gives its place back when it is closed.
type counted struct {
	net.Conn
	once sync.Once
	left func()
}

func (c *counted) Close() error {
	c.once.Do(c.left)
	return c.Conn.Close()
}
