package httprequest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"syscall"
)

// whyUnreachable says in our own words why there was no connection.
func whyUnreachable(err error) string {
	var (
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		authority   x509.UnknownAuthorityError
	)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &dns) && dns.IsNotFound:
		return "there is no such host"
	case errors.As(err, &dns):
		return "the host's name could not be looked up"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "there is no route to the host"
	case errors.As(err, &certificate), errors.As(err, &authority):
		return "the host's certificate is not trusted"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the host does not speak TLS there"
	}
	return "no connection could be made"
}
