package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
	"time"
)

// Distrusted says that a server and this client do not take each other for who they
// should be, or that only one of them speaks TLS: nothing that was asked was read.
type Distrusted struct {
	Server  string
	Problem string
	Hint    string // what to do
	Err     error  // the library's own words
}

// Error implements error.
func (d *Distrusted) Error() string { return d.Server + ": " + d.Problem }

// Unwrap gives the library's error.
func (d *Distrusted) Unwrap() error { return d.Err }

// secureDial connects and shakes hands. It fails with *Distrusted, or as a connection
// that was never there.
func secureDial(dialer *net.Dialer, base *tls.Config) func(ctx context.Context, network, address string) (net.Conn, error) {
	if base == nil {
		base = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		raw, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config := base.Clone()
		if config.ServerName == "" {
			config.ServerName, _, _ = net.SplitHostPort(address) // it was dialled
		}
		conn := tls.Client(raw, config)
		if err := conn.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			if d := distrust(address, err, time.Now()); d != nil {
				return nil, d
			}
			return nil, &net.OpError{Op: "dial", Net: network, Addr: raw.RemoteAddr(), Err: err}
		}
		return conn, nil
	}
}

const lookAtServer = "omni tls inspect --server shows what it presents"

// distrust tells what of TLS an error speaks of; nil when of nothing.
func distrust(server string, err error, now time.Time) *Distrusted {
	d := &Distrusted{Server: server, Err: err}
	var (
		header  tls.RecordHeaderError
		failed  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		network *net.OpError
	)
	switch {
	case errors.As(err, &header):
		d.Problem, d.Hint = "it does not speak TLS", "http:// instead of https:// talks to a node that has no TLS"
	case errors.As(err, &unknown):
		d.Problem = "its certificate is signed by an authority that is not trusted here"
		d.Hint = "--ca-cert FILE, or $OMNI_CACERT, names the cluster's authority; " + lookAtServer
	case errors.As(err, &host):
		d.Problem = "its certificate is not for " + host.Host + ", but for " + strings.Join(hostsOf(host.Certificate), ", ")
		d.Hint = "use one of those, or issue the node's certificate with --host " + host.Host
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		d.Problem = "its certificate expired at " + invalid.Cert.NotAfter.UTC().Format(time.RFC3339)
		if now.Before(invalid.Cert.NotBefore) {
			d.Problem = "its certificate is not valid before " + invalid.Cert.NotBefore.UTC().Format(time.RFC3339)
		}
		d.Hint = "the node needs a new one, unless this machine's clock is wrong; " + lookAtServer
	case errors.As(err, &failed):
		d.Problem, d.Hint = "its certificate is not good: "+failed.Err.Error(), lookAtServer
	case errors.As(err, &network) && network.Op == "remote error" && certificateAlert(network.Err):
		d.Problem, d.Hint = "it refuses this client's certificate: "+network.Err.Error(), "--cert and --key must be of a principal of its cluster: omni tls inspect FILE; the node's log says why"
		if network.Err.Error() == alertRequired.Error() {
			d.Problem, d.Hint = "it wants a certificate", "--cert FILE and --key FILE, or $OMNI_CERT and $OMNI_KEY: omni tls issue principal NAME makes them"
		}
	default:
		return nil
	}
	return d
}

func hostsOf(cert *x509.Certificate) []string {
	hosts := slices.Clone(cert.DNSNames)
	for _, ip := range cert.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	if len(hosts) == 0 {
		hosts = append(hosts, "no host at all")
	}
	return hosts
}

const alertRequired tls.AlertError = 116

// certificateAlert tells whether an alert is one by which a server turns a client's
// certificate away, or the lack of one (RFC 8446, section 6.2). It comes before the
// server has read a request, though the client has sent one by then. The library hides
// an alert's number, but words it like the exported type.
func certificateAlert(alert error) bool {
	for _, one := range []tls.AlertError{40, 42, 43, 44, 45, 46, 48, 49, 70, alertRequired} {
		if alert.Error() == one.Error() {
			return true
		}
	}
	return false
}

// isDistrusted tells whether nobody can be asked until something is changed.
func isDistrusted(err error) bool {
	var d *Distrusted
	return errors.As(err, &d)
}
