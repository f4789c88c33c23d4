package httpapi

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// Whole answers to connections that no request is read from.
var (
	// tooMany is all that a connection beyond the bound is told.
	tooMany = answerOf("503 Service Unavailable", "Retry-After: 1\r\n", `{"code":"`+api.CodeTooManyConns+`","definite":true,"message":"the node has as many connections as it takes"}`)
	// tlsRequired is for who speaks HTTP where TLS is spoken.
	tlsRequired = answerOf("400 Bad Request", "", `{"code":"`+api.CodeTLSRequired+`","definite":true,"message":"this address speaks TLS","hint":"use https:// and --ca-cert FILE, or $OMNI_CACERT, with the cluster's authority"}`)
)

func answerOf(status, headers, body string) []byte {
	return []byte("HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\n" + headers + "Connection: close\r\n" +
		"Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// bounded accepts as many connections as there are places, and turns the rest
// away with an answer instead of leaving them waiting.
type bounded struct {
	net.Listener
	places  *callers.Places
	secured bool        // TLS is spoken over what it accepts
	ending  func() bool // the server is being shut down
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		conn, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addressOf(conn.RemoteAddr().String())
		if b.places.Take(from, 1) == callers.Free {
			taken := &counted{Conn: conn, left: func() { b.places.Back(from, 1) }}
			if b.secured {
				return &greeted{counted: taken, ending: b.ending}, nil
			}
			return taken, nil
		}
		if b.secured {
			_ = conn.Close() // an answer would be no TLS
			continue
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
