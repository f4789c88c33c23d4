package raftstream

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// secureClient wraps a dialled connection and tells which node proved to be at its
// other end; plain TCP passes through, and proves nothing.
func (e *Endpoint) secureClient(ctx context.Context, conn net.Conn, address string) (net.Conn, string, error) {
	store := e.options.TLS
	if store == nil {
		return conn, "", nil
	}
	secure := tls.Client(conn, store.PeerClient())
	err := secure.HandshakeContext(ctx)
	var node string
	if err == nil {
		node, err = store.Peer(secure.ConnectionState(), e.options.NodeAt(address))
	}
	if err != nil {
		return nil, "", e.distrust("at "+address, address, fmt.Errorf("TLS with %s: %w", address, identity.Explain(err)))
	}
	return secure, node, nil
}

// secureServer wraps an accepted connection. A certificate that no authority of ours
// signed ends it here; whose it is, is for proves to judge.
func (e *Endpoint) secureServer(ctx context.Context, conn net.Conn) (net.Conn, error) {
	store := e.options.TLS
	if store == nil {
		return conn, nil
	}
	secure := tls.Server(conn, store.PeerServer())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, identity.Explain(err)
	}
	return secure, nil
}

// proves holds a hello to the certificate of the connection that it came over: who
// says that it is a node must have proved it. Without TLS there is nothing to hold it to.
func (e *Endpoint) proves(conn net.Conn, h hello) error {
	secure, ok := conn.(*tls.Conn)
	if !ok {
		return nil
	}
	_, err := e.options.TLS.Peer(secure.ConnectionState(), h.node)
	return err
}

// codeOf is the answer to a caller whose certificate does not fit its hello.
func codeOf(err error) RefusalCode {
	var d *identity.Distrust
	if !errors.As(err, &d) {
		return BadCertificate
	}
	switch d.Reason {
	case identity.WrongCluster:
		return CertificateCluster
	case identity.WrongNode:
		return CertificateNode
	case identity.NotANode:
		return CertificateKind
	}
	return BadCertificate
}

// distrust logs why nothing is said to the other side, once a minute for each address
// and reason, and gives the error back. What is only a broken connection is not told.
func (e *Endpoint) distrust(where, remote string, err error) error {
	var d *identity.Distrust
	if errors.As(err, &d) && e.refusals.fresh(where, string(d.Reason), time.Now()) {
		e.options.Logger.Error("peer not trusted", "remote", remote, "reason", string(d.Reason), "error", d, "hint", d.Hint())
	}
	return err
}

// linger ends a connection whose handshake failed. Closing with bytes unread would
// reset it and take the reason away from the other side, which closes when it has
// read it.
func linger(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, conn, maxDrain)
	}
}
