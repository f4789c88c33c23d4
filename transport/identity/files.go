package identity

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"
)

// Files name what mutual TLS needs, in PEM form.
type Files struct {
	Cert string // the certificate, with what stands between it and the authority
	Key  string
	CA   string // the authorities that are trusted: two, while one follows the other
}

// maxFileBytes bounds each of them.
const maxFileBytes = 1 << 20

// contents is what was read of Files, so that it can be compared.
type contents struct{ cert, key, ca []byte }

func (f Files) read() (c contents, err error) {
	for _, one := range []struct {
		what, path string
		into       *[]byte
	}{{"certificate", f.Cert, &c.cert}, {"key", f.Key, &c.key}, {"authority", f.CA, &c.ca}} {
		raw, failed := os.ReadFile(one.path)
		if failed == nil && len(raw) > maxFileBytes {
			failed = fmt.Errorf("%s has %d bytes, must have %d at most", one.path, len(raw), maxFileBytes)
		}
		if failed != nil {
			return c, fmt.Errorf("%s: %w", one.what, failed)
		}
		*one.into = raw
	}
	return c, nil
}

// sum tells contents apart.
func (c contents) sum() [sha256.Size]byte {
	h := sha256.New()
	for _, part := range [][]byte{c.cert, c.key, c.ca} {
		one := sha256.Sum256(part)
		h.Write(one[:])
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// credentials are files that were read and fit together. They never change.
type credentials struct {
	pair        tls.Certificate
	leaf        *x509.Certificate
	authorities []*x509.Certificate
	pool        *x509.CertPool
	from        [sha256.Size]byte
	since       time.Time
}

// parse makes credentials of what was read: the key is the certificate's, and one of
// the authorities signed it, for both sides of a connection, and now.
func (f Files) parse(c contents, now time.Time) (*credentials, error) {
	pair, err := tls.X509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", f.Cert, f.Key, err)
	}
	out := &credentials{pair: pair, leaf: pair.Leaf, pool: x509.NewCertPool(), from: c.sum(), since: now}
	if out.authorities, err = Certificates(c.ca); err != nil {
		return nil, fmt.Errorf("%s: %w", f.CA, err)
	}
	for _, authority := range out.authorities {
		if !authority.IsCA {
			return nil, fmt.Errorf("%s: the certificate %s is no authority's", f.CA, describe(authority))
		}
		out.pool.AddCert(authority)
	}
	between := x509.NewCertPool()
	for _, der := range pair.Certificate[1:] {
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Cert, err)
		}
		between.AddCert(cert)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if err := out.verify(out.leaf, between, usage, now); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Cert, err)
		}
	}
	return out, nil
}

// verify holds a certificate to the authorities.
func (c *credentials) verify(leaf *x509.Certificate, between *x509.CertPool, usage x509.ExtKeyUsage, now time.Time) error {
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: c.pool, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{usage},
	})
	if err != nil {
		return distrustOf(leaf, err, now)
	}
	return nil
}

// Certificates reads all certificates of a PEM file; at least one must be there.
func Certificates(raw []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for rest := bytes.TrimSpace(raw); len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		found = append(found, cert)
	}
	if len(found) == 0 {
		return nil, errors.New("holds no certificate in PEM form")
	}
	return found, nil
}
