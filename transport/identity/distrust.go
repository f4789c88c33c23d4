package identity

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Reason is why a certificate, or the lack of one, is refused.
type Reason string

// The reasons.
const (
	NotTLS           Reason = "NOT_TLS"           // the other side does not speak TLS
	NoCertificate    Reason = "NO_CERTIFICATE"    // it shows none
	UnknownAuthority Reason = "UNKNOWN_AUTHORITY" // another authority signed it
	Expired          Reason = "EXPIRED"           //
	NotYetValid      Reason = "NOT_YET_VALID"     //
	WrongUsage       Reason = "WRONG_USAGE"       // it is not meant for this side of a connection
	NoIdentity       Reason = "NO_IDENTITY"       // it says of nobody who that is
	WrongCluster     Reason = "WRONG_CLUSTER"     // it is of another cluster
	NotANode         Reason = "NOT_A_NODE"        // it is a principal's
	WrongNode        Reason = "WRONG_NODE"        // it is another node's
	RefusedOurs      Reason = "REFUSED_OURS"      // the other side refused the certificate shown to it
	OldTLS           Reason = "OLD_TLS"           // there is no version of TLS, or no cipher, that both know
	Unclear          Reason = "HANDSHAKE_FAILED"  // anything else
)

// Distrust says why the other side of a connection is not believed to be who it
// says, or ours was not.
type Distrust struct {
	Reason Reason
	Cert   *x509.Certificate // nil when there is none to speak of
	Want   string            // what it should have been, if that is known
	Err    error             // the library's own words, if it has any
}

// Error says what is wrong, and names the certificate.
func (d *Distrust) Error() string {
	text := d.sentence()
	if d.Cert != nil {
		text += " (" + describe(d.Cert) + ")"
	}
	if d.Err != nil && (d.Reason == Unclear || d.Reason == RefusedOurs || d.Reason == WrongUsage) {
		text += ": " + d.Err.Error()
	}
	return text
}

// Unwrap gives the library's error.
func (d *Distrust) Unwrap() error { return d.Err }

func (d *Distrust) sentence() string {
	switch d.Reason {
	case NotTLS:
		return "the other side does not speak TLS"
	case NoCertificate:
		return "the other side shows no certificate"
	case UnknownAuthority:
		return "the certificate is signed by an authority that is not trusted here"
	case Expired:
		return "the certificate expired at " + d.Cert.NotAfter.UTC().Format(time.RFC3339)
	case NotYetValid:
		return "the certificate is not valid before " + d.Cert.NotBefore.UTC().Format(time.RFC3339)
	case WrongUsage:
		return "the certificate is not meant for this side of a connection"
	case NoIdentity:
		return "the certificate does not say of which cluster and which node it is: it needs exactly one URI spiffe://CLUSTER/node/ID"
	case WrongCluster:
		return "the certificate is of another cluster than " + d.Want
	case NotANode:
		return "the certificate is not a node's"
	case WrongNode:
		return "the certificate is of another node than " + d.Want
	case RefusedOurs:
		return "the other side refused the certificate it was shown"
	case OldTLS:
		return "the other side has no version of TLS in common: 1.3 is needed"
	}
	return "the TLS handshake failed"
}

// Hint says what to do about it.
func (d *Distrust) Hint() string {
	switch d.Reason {
	case NotTLS:
		return "give every node --tls-cert, --tls-key and --tls-ca, or none; who is no node has no business here"
	case NoCertificate:
		return "give every node --tls-cert, --tls-key and --tls-ca: omni tls issue node ID"
	case UnknownAuthority:
		return "put both authorities into every node's --tls-ca while certificates of two are in use, or have it signed by the one that is there: omni tls inspect FILE"
	case Expired:
		return "issue it anew: omni tls issue node ID --force; is the clock right?"
	case NotYetValid:
		return "are both clocks right? omni tls inspect FILE"
	case WrongUsage:
		return "a node's certificate needs the usages of a server and of a client: omni tls issue node ID"
	case NoIdentity:
		return "issue one that does: omni tls issue node ID"
	case WrongCluster:
		return "each cluster has an authority of its own; compare --cluster with omni tls inspect FILE"
	case NotANode:
		return "a principal's certificate is for the API: omni tls issue node ID makes a node's"
	case WrongNode:
		return "compare --node and --peer with omni tls inspect FILE, and give each node its own certificate"
	case RefusedOurs:
		return "the log over there says why; look at ours with omni tls inspect FILE"
	case OldTLS:
		return "a client or a proxy from before TLS 1.3 cannot talk to a node"
	}
	return "omni tls inspect --server HOST:PORT shows what is presented there"
}

// describe names a certificate for people.
func describe(cert *x509.Certificate) string {
	who := cert.Subject.CommonName
	if id, err := Of(cert); err == nil {
		who = id.String()
	}
	if who == "" {
		who = "without a name"
	}
	return fmt.Sprintf("%s, serial %s, signed by %q", who, Serial(cert), cert.Issuer.CommonName)
}

// Explain says what a failed handshake failed of: a *Distrust, unless the connection
// broke or its time was over, which says nothing of anybody's certificate.
func Explain(err error) error {
	var (
		known   *Distrust
		header  tls.RecordHeaderError
		failed  *tls.CertificateVerificationError
		network net.Error
	)
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.As(err, &header):
		return &Distrust{Reason: NotTLS, Err: err}
	case errors.As(err, &failed):
		var leaf *x509.Certificate
		if len(failed.UnverifiedCertificates) > 0 {
			leaf = failed.UnverifiedCertificates[0]
		}
		return distrustOf(leaf, failed.Err, time.Now())
	case alerted(err) != nil:
		return &Distrust{Reason: ofAlert(alerted(err)), Err: err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return err
	}
	return ofLocal(err)
}

// distrustOf is why the chain of a certificate does not hold.
func distrustOf(leaf *x509.Certificate, err error, now time.Time) *Distrust {
	d := &Distrust{Reason: Unclear, Cert: leaf, Err: err}
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &unknown):
		d.Reason = UnknownAuthority
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		d.Reason = Expired
		if invalid.Cert != nil {
			d.Cert = invalid.Cert // an authority's, perhaps
		}
		if d.Cert != nil && now.Before(d.Cert.NotBefore) {
			d.Reason = NotYetValid
		}
	case errors.As(err, &invalid) && invalid.Reason == x509.IncompatibleUsage:
		d.Reason = WrongUsage
	}
	if d.Cert == nil && (d.Reason == Expired || d.Reason == NotYetValid) {
		d.Reason = Unclear
	}
	return d
}
