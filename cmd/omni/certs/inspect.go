package certs

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// What a certificate is of, beside the kinds of identities.
const (
	kindAuthority = "authority"
	kindUnknown   = "unknown"
)

// States of a certificate.
const (
	Valid       = "valid"
	EndsSoon    = "ends_soon"
	Expired     = "expired"
	NotYetValid = "not_yet_valid"
)

// Certificate is what one says of itself.
type Certificate struct {
	From      string    `json:"from,omitempty"` // the file, or the server
	Kind      string    `json:"kind"`           // node, principal, authority, or unknown
	Cluster   string    `json:"cluster,omitempty"`
	Name      string    `json:"name,omitempty"`
	URI       string    `json:"uri,omitempty"`
	Hosts     []string  `json:"hosts,omitempty"`
	Serial    string    `json:"serial"`
	NotBefore time.Time `json:"not_before"`
	NotAfter  time.Time `json:"not_after"`
	DaysLeft  int       `json:"days_left"` // whole ones; negative when it is over
	State     string    `json:"state"`
	SignedBy  string    `json:"signed_by"`
	Trusted   string    `json:"trusted,omitempty"` // "yes", or why not; absent when nobody said whom to trust
}

// Inspection is what was found.
type Inspection struct {
	Certificates []Certificate `json:"certificates"`
}

// Bad lists what is not as it should be, one sentence each.
func (i Inspection) Bad() (problems []string) {
	for _, c := range i.Certificates {
		where := c.From + ": " + cmp.Or(c.URI, c.Name, c.Serial)
		switch c.State {
		case Expired:
			problems = append(problems, where+" expired at "+c.NotAfter.Format(time.RFC3339))
		case NotYetValid:
			problems = append(problems, where+" is not valid before "+c.NotBefore.Format(time.RFC3339))
		}
		if c.Trusted != "" && c.Trusted != "yes" {
			problems = append(problems, where+": "+c.Trusted)
		}
	}
	return problems
}

func hostsIn(cert *x509.Certificate) []string {
	hosts := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		hosts = append(hosts, ip.String())
	}
	return hosts
}

func describe(cert *x509.Certificate, now time.Time) Certificate {
	c := Certificate{
		Kind: kindUnknown, Name: cert.Subject.CommonName, Hosts: hostsIn(cert), Serial: identity.Serial(cert),
		NotBefore: cert.NotBefore.UTC(), NotAfter: cert.NotAfter.UTC(), SignedBy: cert.Issuer.CommonName, State: Valid,
		DaysLeft: int(cert.NotAfter.Sub(now) / (24 * time.Hour)),
	}
	if who, err := identity.Of(cert); err == nil {
		c.Kind, c.Cluster, c.Name, c.URI = string(who.Kind), who.Cluster, who.Name, who.String()
	} else if cert.IsCA {
		c.Kind = kindAuthority
		for _, u := range cert.URIs {
			c.Cluster, c.URI = u.Host, u.String()
		}
	}
	switch {
	case now.After(cert.NotAfter):
		c.State = Expired
	case now.Before(cert.NotBefore):
		c.State = NotYetValid
	case cert.NotAfter.Sub(now) < identity.SoonBefore(cert):
		c.State = EndsSoon
	}
	return c
}

// Trust is whom to hold certificates to; nil: nobody.
type Trust struct{ pool *x509.CertPool }

// ReadTrust reads a file of authorities; "" is nil.
func ReadTrust(path string) (*Trust, error) {
	if path == "" {
		return nil, nil
	}
	certs, err := readCertificates(path)
	if err != nil {
		return nil, err
	}
	t := &Trust{x509.NewCertPool()}
	for _, cert := range certs {
		t.pool.AddCert(cert)
	}
	return t, nil
}

// judge says whether a chain leads to whom is trusted, by a host's name where there is
// one.
func (t *Trust) judge(chain []*x509.Certificate, host string, now time.Time) string {
	if t == nil {
		return ""
	}
	between := x509.NewCertPool()
	for _, cert := range chain[1:] {
		between.AddCert(cert)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{
		Roots: t.pool, Intermediates: between, CurrentTime: now, DNSName: host, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return err.Error()
	}
	return "yes"
}

func readCertificates(path string) ([]*x509.Certificate, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, problem("", "%v", err)
	}
	certs, err := identity.Certificates(raw)
	if err != nil {
		return nil, problem("name a file with a certificate, not its key", "%s: %v", path, err)
	}
	return certs, nil
}

// Inspect tells what the certificates of a file say.
func (i *Inspection) Inspect(path string, trust *Trust, now time.Time) error {
	certs, err := readCertificates(path)
	if err != nil {
		return err
	}
	for at, cert := range certs {
		c := describe(cert, now)
		c.From, c.Trusted = path, trust.judge(certs[at:], "", now)
		i.Certificates = append(i.Certificates, c)
	}
	return nil
}

// Ask tells what a server shows: a node's API, or its port for other nodes. Whom it
// shows it to does not matter: it shows its certificate before it asks for one.
func (i *Inspection) Ask(ctx context.Context, server string, trust *Trust, now time.Time) error {
	address := server
	if _, rest, ok := strings.Cut(server, "://"); ok {
		address = strings.TrimRight(rest, "/")
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return problem("such as 10.0.0.1:7700", "server %q: must be host:port", server)
	}
	var chain []*x509.Certificate
	dialer := tls.Dialer{Config: &tls.Config{
		MinVersion: tls.VersionTLS13, ServerName: host, InsecureSkipVerify: true, // looked at, and nothing is said to it
		VerifyConnection: func(state tls.ConnectionState) error {
			chain = state.PeerCertificates
			return nil
		},
	}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err == nil {
		_ = conn.Close() // nothing was said on it
	}
	if len(chain) == 0 {
		return problem("is a node with TLS running there?", "%s: %v", server, identity.Explain(err))
	}
	for at, cert := range chain {
		c := describe(cert, now)
		c.From = server
		if at == 0 {
			c.Trusted = trust.judge(chain, host, now)
		}
		i.Certificates = append(i.Certificates, c)
	}
	return nil
}
