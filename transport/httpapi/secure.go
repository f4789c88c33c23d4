package httpapi

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// greeted is a connection over which TLS is to be spoken. Who begins in plain HTTP is
// told. A handshake that fails ends so that the other side can read why: what it has
// sent by then is read first, for a connection that is closed with bytes unread is
// reset.
type greeted struct {
	*counted
	ending  func() bool
	begun   atomic.Bool // the first bytes were read, and are TLS
	trusted atomic.Bool // the other side has shown what it must: there is nothing to explain any more
}

// handshakeByte is what TLS begins with: a record of a handshake.
const handshakeByte = 22

var errNoTLS = errors.New("a client spoke without TLS, and was told to use it")

func (g *greeted) Read(b []byte) (int, error) {
	n, err := g.counted.Read(b)
	if n > 0 && !g.begun.Load() {
		if b[0] != handshakeByte {
			g.tellPlain()
			return 0, errNoTLS
		}
		g.begun.Store(true)
	}
	return n, err
}

// tellPlain never waits: a fresh connection's send buffer holds the answer.
func (g *greeted) tellPlain() {
	if g.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = g.Write(tlsRequired) // the connection ends either way
	}
	g.linger()
}

// How long, and over how many bytes, the end of a connection waits for the other side
// to read why.
const (
	lingerFor   = time.Second
	lingerBytes = 64 << 10
)

func (g *greeted) linger() {
	half, ok := g.Conn.(interface{ CloseWrite() error })
	if ok && half.CloseWrite() == nil && g.SetReadDeadline(time.Now().Add(lingerFor)) == nil {
		_, _ = io.CopyN(io.Discard, g.Conn, lingerBytes) // whatever it is
	}
}

// Close ends the connection. It waits only where a handshake failed, in the goroutine that
// made it.
func (g *greeted) Close() error {
	if g.begun.Load() && !g.trusted.Load() && !g.ending() {
		g.linger()
	}
	return g.counted.Close()
}

// noting is a configuration that notes on a connection that its handshake has come to
// where the other side is trusted.
func noting(config *tls.Config) *tls.Config {
	out := config.Clone()
	out.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		chosen := config
		if config.GetConfigForClient != nil {
			fresh, err := config.GetConfigForClient(hello)
			if err != nil {
				return nil, err
			}
			if fresh != nil {
				chosen = fresh
			}
		}
		chosen = chosen.Clone()
		before := chosen.VerifyConnection
		chosen.VerifyConnection = func(state tls.ConnectionState) error {
			if before != nil {
				if err := before(state); err != nil {
					return err
				}
			}
			noteTrust(hello.Conn)
			return nil
		}
		return chosen, nil
	}
	return out
}

func noteTrust(conn net.Conn) {
	if g, ok := conn.(*greeted); ok {
		g.trusted.Store(true)
	}
}
