package main

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/identity"
)

// serverTLS says how a node is secured.
type serverTLS struct {
	files      identity.Files
	clientAuth string
	insecure   bool
}

func (f *serverTLS) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.files.Cert, "tls-cert", "", "this node's certificate: turns on TLS, between nodes and towards clients")
	flags.StringVar(&f.files.Key, "tls-key", "", "the certificate's key")
	flags.StringVar(&f.files.CA, "tls-ca", "", "the authorities that sign nodes' and clients' certificates")
	flags.StringVar(&f.clientAuth, "client-auth", string(identity.Optional),
		"whether clients of the API show a certificate: require, optional (who shows one is held to it) or off")
	flags.BoolVar(&f.insecure, "insecure", false, "serve without TLS where other machines can reach: everything can be read and forged there")
}

// open reads the files; nil means plain TCP.
func (f serverTLS) open(clusterID, node string, logger hclog.Logger) (*identity.Store, error) {
	if f.files == (identity.Files{}) {
		return nil, nil
	}
	if f.files.Cert == "" || f.files.Key == "" || f.files.CA == "" {
		return nil, tell.Usage("omni tls init and omni tls issue node "+node+" make them", "--tls-cert, --tls-key and --tls-ca belong together: give all three or none")
	}
	if f.insecure {
		return nil, tell.Usage("leave one of them out", "--insecure is for nodes without TLS, and --tls-cert turns it on")
	}
	if err := identity.ClientAuth(f.clientAuth).Check(); err != nil {
		return nil, tell.Usage("", "--client-auth is %q, %v", f.clientAuth, err)
	}
	store, err := identity.Open(identity.Options{Files: f.files, Cluster: clusterID, Node: node, Logger: logger.Named("tls")})
	if err != nil {
		return nil, tell.Usage("omni tls inspect "+f.files.Cert+"; omni tls issue node "+node+" makes one", "--tls-cert: %v", err)
	}
	return store, nil
}

// api is how the API is served; nil means plain HTTP.
func (f serverTLS) api(store *identity.Store) *tls.Config {
	if store == nil {
		return nil
	}
	return store.API(identity.ClientAuth(f.clientAuth))
}

// inUse tells what a node proves itself with; nil without TLS.
func inUse(store *identity.Store) func() identity.State {
	if store == nil {
		return nil
	}
	return store.State
}

// lookupWithin bounds how long the name of an address is looked up.
const lookupWithin = 5 * time.Second

// checkExposure refuses a node that others can reach in the clear, unless it was told to
// be one.
func (f serverFlags) checkExposure(ctx context.Context, secured bool, peers []cluster.Peer, logger hclog.Logger) error {
	if secured {
		for _, peer := range peers {
			if !strings.HasPrefix(peer.API, "https://") {
				return tell.Usage("https://, as every node with TLS serves it", "--peer %s: its API is %s, but this cluster has TLS", peer.ID, peer.API)
			}
		}
		return nil
	}
	for _, one := range [][2]string{{"--api-addr", f.apiAddr}, {"--raft-addr", f.raftAddr}} {
		if onlyHere(ctx, one[1]) {
			continue
		}
		if f.tls.insecure {
			logger.Warn("serving without TLS where other machines can reach", "flag", one[0], "address", one[1])
			continue
		}
		return tell.Usage(
			"give it a certificate: omni tls init, omni tls issue node "+f.node+" --host ADDRESS, then --tls-cert, --tls-key and --tls-ca; or, where nobody else can reach it, --insecure",
			"%s %s can be reached from other machines, and there is no TLS: everything could be read and forged", one[0], one[1])
	}
	return nil
}

// onlyHere tells whether an address is one of this machine's loopback interface.
func onlyHere(ctx context.Context, address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // listening will say what is wrong with it
	}
	if host == "localhost" {
		return true
	}
	if ip := net.ParseIP(host); ip != nil || host == "" {
		return ip != nil && ip.IsLoopback()
	}
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
	defer cancel()
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	for _, ip := range found {
		if !ip.IP.IsLoopback() {
			return false
		}
	}
	return err == nil && len(found) > 0
}

// whereabouts tell which node must answer at an address, once there is a group to ask:
// its members change, and the flags do not.
type whereabouts struct {
	ask atomic.Pointer[func(address string) string]
}

func (w *whereabouts) nodeAt(address string) string {
	if ask := w.ask.Load(); ask != nil {
		return (*ask)(address)
	}
	return ""
}

// follow lets a node that is open say it. One that is held calls nobody.
func (w *whereabouts) follow(node served) {
	if member, ok := node.(interface{ NodeAt(address string) string }); ok {
		ask := member.NodeAt
		w.ask.Store(&ask)
	}
}
