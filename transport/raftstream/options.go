package raftstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// MaxID bounds a cluster, kernel or node id, in bytes.
const MaxID = 64

// Limits of an endpoint. A zero field means the default named beside it.
type Limits struct {
	Handshake    time.Duration // from connecting to the answer, TLS included; 5 s
	Pending      int           // handshakes under way; 64
	Streams      int           // accepted streams that are open; 1024
	FrameBytes   int           // one peer request or answer; 1 MiB
	ConnsPerPeer int           // calls under way to one address; 8
	HistoryConns int           // the same, for history; 2
	Call         time.Duration // a call whose context has no deadline; 5 s
	Idle         time.Duration // an unused peer stream; 10 min
}

func (l Limits) withDefaults() Limits {
	fill(&l.Handshake, 5*time.Second)
	fill(&l.Pending, 64)
	fill(&l.Streams, 1024)
	fill(&l.FrameBytes, 1<<20)
	fill(&l.ConnsPerPeer, 8)
	fill(&l.HistoryConns, 2)
	fill(&l.Call, 5*time.Second)
	fill(&l.Idle, 10*time.Minute)
	return l
}

func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Options of Listen.
type Options struct {
	// Listen is the address to bind, host:port. Ignored when Listener is given.
	Listen string
	// Listener replaces the bound one.
	Listener net.Listener
	// Advertise is the address that other nodes know this one by, the one in the
	// Raft configuration. Default: the listener's own.
	Advertise string
	// ClusterID and NodeID are told in every handshake; 1 to MaxID bytes.
	ClusterID string
	NodeID    string
	// TLS makes both sides prove which node of the cluster they are. Nil means plain
	// TCP.
	TLS *identity.Store
	// NodeAt is the node that must answer at an address, "" when that is not known.
	// Nil: it never is. Without TLS nobody proves anything, and it is not asked.
	NodeAt func(address string) string
	// Dial replaces the TCP dialer.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Lineage says which recoveries the node's data has been through. Nil: none.
	Lineage Lineage
	Limits  Limits
	Logger  hclog.Logger
}

func (o Options) withDefaults() (Options, error) {
	for name, id := range map[string]string{"cluster id": o.ClusterID, "node id": o.NodeID} {
		if err := checkID(name, id); err != nil {
			return o, err
		}
	}
	o.Limits = o.Limits.withDefaults()
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Lineage == nil {
		o.Lineage = unrecovered{}
	}
	if o.NodeAt == nil {
		o.NodeAt = func(string) string { return "" }
	}
	if o.Dial == nil {
		dialer := &net.Dialer{KeepAliveConfig: keepAlive}
		o.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		}
	}
	if o.Listener == nil {
		config := net.ListenConfig{KeepAliveConfig: keepAlive}
		listener, err := config.Listen(context.Background(), "tcp", o.Listen)
		if err != nil {
			return o, fmt.Errorf("listen for peers: %w", err)
		}
		o.Listener = listener
	}
	if o.Advertise == "" {
		o.Advertise = o.Listener.Addr().String()
	}
	if err := checkAdvertise(o.Advertise); err != nil {
		return o, errors.Join(err, o.Listener.Close())
	}
	return o, nil
}

// keepAlive finds out within half a minute that a host has vanished: a stream
// has no read deadline while the other side has nothing to say.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}

func checkID(name, id string) error {
	if id == "" || len(id) > MaxID {
		return fmt.Errorf("%s has %d bytes, want 1 to %d", name, len(id), MaxID)
	}
	return nil
}

func checkAdvertise(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil // not a host and port: an address of another kind of network
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		return fmt.Errorf("advertised address %s cannot be dialled by other nodes: set one", address)
	}
	return nil
}
