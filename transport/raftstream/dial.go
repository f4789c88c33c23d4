package raftstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// dial opens a stream of this kernel at another node: connection, TLS,
// handshake, all within the context and the limit for handshakes.
func (k *Kernel) dial(ctx context.Context, address string, kind StreamKind) (net.Conn, string, error) {
	e := k.endpoint
	ctx, cancel := context.WithTimeout(ctx, e.options.Limits.Handshake)
	defer cancel()
	raw, err := e.options.Dial(ctx, address)
	if err != nil {
		return nil, "", fmt.Errorf("connect to %s: %w", address, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	conn, node, err := k.introduce(ctx, raw, address, kind)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = raw.Close()
		return nil, "", err
	}
	return conn, node, nil
}

// introduce says hello on a fresh connection and reads the answer.
func (k *Kernel) introduce(ctx context.Context, raw net.Conn, address string, kind StreamKind) (net.Conn, string, error) {
	e := k.endpoint
	conn, proved, err := e.secureClient(ctx, raw, address)
	if err != nil {
		return nil, "", err
	}
	h := hello{kind: kind, cluster: e.options.ClusterID, kernel: k.id, node: e.options.NodeID, lineage: e.options.Lineage.Own()}
	if _, err := conn.Write(h.encode()); err != nil {
		return nil, "", fmt.Errorf("greet %s: %w", address, err)
	}
	reply, err := readAnswer(conn)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", fmt.Errorf("greet %s: it hung up without an answer (does only one side use TLS?): %w", address, err)
	}
	if err != nil {
		return nil, "", e.distrust("at "+address, address, fmt.Errorf("greet %s: %w", address, identity.Explain(err)))
	}
	if reply.code != Accepted {
		refused := &Refused{Address: address, Code: reply.code, Version: reply.version}
		if e.refusals.news(refused, time.Now()) {
			e.options.Logger.Error("peer refused our stream", "address", address, "reason", refused.Code.String(),
				"cluster", e.options.ClusterID, "kernel", k.id, "our_version", Version, "its_version", reply.version, "hint", refused.Code.hint())
		}
		if refused.Code == Outlived {
			e.options.Lineage.Outlived(address)
		}
		return nil, "", refused
	}
	if proved != "" && reply.node != proved {
		return nil, "", fmt.Errorf("greet %s: it says that it is node %s, and its certificate that it is %s", address, reply.node, proved)
	}
	e.refusals.forget(address)
	e.refusals.forget("at " + address)
	return conn, reply.node, nil
}
