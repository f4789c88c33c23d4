package authority

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
)

// Request says whom a certificate shall speak of.
type Request struct {
	Kind  identity.Kind
	Name  string
	Hosts []string      // names and addresses by which clients reach a node
	Life  time.Duration // NodeLife or PrincipalLife when 0; never longer than the authority's
	Now   time.Time
}

// Loopback is what every node's certificate is good for, too: whoever is on the machine
// asks the node there.
var Loopback = []string{"localhost", "127.0.0.1", "::1"}

// Issue signs for a node or a principal, with a fresh key.
func (a *Authority) Issue(r Request) (Issued, error) {
	uri, err := identity.URI(a.Cluster, r.Kind, r.Name)
	if err != nil {
		return Issued{}, err
	}
	key, serial, err := fresh()
	if err != nil {
		return Issued{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, URIs: []*url.URL{uri},
		Subject:   pkix.Name{Organization: []string{"Omni Kernel"}, OrganizationalUnit: []string{a.Cluster}, CommonName: r.Name},
		NotBefore: r.Now.Add(-early), NotAfter: r.Now.Add(r.life()),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if template.NotAfter.After(a.Cert.NotAfter) {
		template.NotAfter = a.Cert.NotAfter
	}
	if template.NotBefore.Before(a.Cert.NotBefore) {
		template.NotBefore = a.Cert.NotBefore
	}
	if err := r.reach(template); err != nil {
		return Issued{}, err
	}
	cert, err := sign(template, a.Cert, key.Public(), a.key)
	if err != nil {
		return Issued{}, err
	}
	private, err := encodeKey(key)
	return Issued{Cert: cert, CertPEM: encode(cert), KeyPEM: private}, err
}

func (r Request) life() time.Duration {
	switch {
	case r.Life > 0:
		return r.Life
	case r.Kind == identity.Node:
		return NodeLife
	}
	return PrincipalLife
}

// reach notes what a node is, beside its identity: a server, at these hosts.
func (r Request) reach(template *x509.Certificate) error {
	if r.Kind != identity.Node {
		if len(r.Hosts) > 0 {
			return fmt.Errorf("a principal has no hosts: they are a node's")
		}
		return nil
	}
	template.ExtKeyUsage = append(template.ExtKeyUsage, x509.ExtKeyUsageServerAuth)
	hosts := slices.Concat(Loopback, r.Hosts)
	for i, host := range hosts {
		if slices.Contains(hosts[:i], host) {
			continue
		}
		ip := net.ParseIP(host)
		switch {
		case ip != nil && ip.IsUnspecified():
			return fmt.Errorf("host %q is no address that anybody reaches: name the machine's own", host)
		case ip != nil:
			template.IPAddresses = append(template.IPAddresses, ip)
		case !hostName(host):
			return fmt.Errorf("host %q: must be an address, or a name such as db1.example.com, without a port", host)
		default:
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	return nil
}

// hostName tells whether a text may stand in a certificate as a name of a host; *. may
// lead.
func hostName(host string) bool {
	host = strings.TrimPrefix(host, "*.")
	if host == "" || len(host) > 253 || strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
	}) {
		return false
	}
	return !strings.HasPrefix(host, ".") && !strings.HasSuffix(host, ".") && !strings.Contains(host, "..")
}
