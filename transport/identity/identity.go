package identity

import (
	"crypto/x509"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Kind says what an identity is of.
type Kind string

// The kinds, as they stand in the URI.
const (
	Node      Kind = "node"
	Principal Kind = "principal"
)

// scheme of the URIs, as SPIFFE has it.
const scheme = "spiffe"

// maxName bounds a cluster's id and a name, in bytes.
const maxName = 64

// Identity is whom a certificate speaks of.
type Identity struct {
	Kind     Kind
	Cluster  string
	Name     string    // a node's id, or a principal's name
	Serial   string    // of the certificate, in hex
	NotAfter time.Time // when the certificate ends
}

// String is the URI.
func (i Identity) String() string { return uri(i.Cluster, i.Kind, i.Name).String() }

func uri(cluster string, kind Kind, name string) *url.URL {
	return &url.URL{Scheme: scheme, Host: cluster, Path: "/" + string(kind) + "/" + name}
}

// URI makes the one that a certificate carries. It refuses what the form cannot
// hold.
func URI(cluster string, kind Kind, name string) (*url.URL, error) {
	if rule := NameRule(cluster); rule != "" {
		return nil, fmt.Errorf("cluster id %q: %s", cluster, rule)
	}
	if rule := NameRule(name); rule != "" {
		return nil, fmt.Errorf("%s name %q: %s", kind, name, rule)
	}
	return uri(cluster, kind, name), nil
}

// NameRule tells what is wrong with a name in a certificate; "" when nothing is.
func NameRule(name string) string {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Sprintf("must have 1 to %d bytes", maxName)
	case strings.ContainsFunc(name, strange):
		return "must be of letters, digits, dots, hyphens and underscores"
	case strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, ".."):
		return "must not begin or end with a dot, nor have two in a row"
	}
	return ""
}

func strange(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	return !letter && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
}

// Of reads a certificate's identity. The error is a *Distrust: it has none, or more
// than one.
func Of(cert *x509.Certificate) (Identity, error) {
	found := Identity{Serial: Serial(cert), NotAfter: cert.NotAfter}
	known := false
	for _, u := range cert.URIs {
		if u.Scheme != scheme {
			continue
		}
		kind, name, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
		fits := ok && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
			(Kind(kind) == Node || Kind(kind) == Principal) && NameRule(u.Host) == "" && NameRule(name) == ""
		if !fits || known {
			return found, &Distrust{Reason: NoIdentity, Cert: cert}
		}
		found.Kind, found.Cluster, found.Name = Kind(kind), u.Host, name
		known = true
	}
	if !known {
		return found, &Distrust{Reason: NoIdentity, Cert: cert}
	}
	return found, nil
}

// Serial is a certificate's serial number as people write it, in hex.
func Serial(cert *x509.Certificate) string { return fmt.Sprintf("%x", cert.SerialNumber) }
