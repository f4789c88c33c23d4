package identity

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
)

// Alerts of TLS (RFC 8446, section 6.2) by which the other side says that it does
// not take the certificate that it was shown, or misses one.
const (
	alertHandshakeFailure   tls.AlertError = 40
	alertBadCertificate     tls.AlertError = 42
	alertUnsupported        tls.AlertError = 43
	alertRevoked            tls.AlertError = 44
	alertExpired            tls.AlertError = 45
	alertUnknownCertificate tls.AlertError = 46
	alertUnknownCA          tls.AlertError = 48
	alertAccessDenied       tls.AlertError = 49
	alertVersion            tls.AlertError = 70
	alertRequired           tls.AlertError = 116
)

// alerted is the other side's alert; nil when there is none. The library hides its
// number, but words it like the exported type.
func alerted(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return op.Err
	}
	return nil
}

// RefusedByAlert tells that the other side ended the handshake because of the
// certificate that it was shown, or was not: nothing that was sent after it was
// read.
func RefusedByAlert(err error) bool {
	alert := alerted(err)
	if alert == nil {
		return false
	}
	for _, one := range []tls.AlertError{
		alertBadCertificate, alertUnsupported, alertRevoked, alertExpired, alertUnknownCertificate, alertUnknownCA,
		alertAccessDenied, alertRequired, alertHandshakeFailure, alertVersion,
	} {
		if alert.Error() == one.Error() {
			return true
		}
	}
	return false
}

func ofAlert(alert error) Reason {
	switch alert.Error() {
	case alertVersion.Error(), alertHandshakeFailure.Error():
		return OldTLS
	}
	return RefusedOurs
}

// ofLocal is what our own side of a handshake failed of beside the other side's
// chain. The library has no types for these; a test holds its words.
func ofLocal(err error) *Distrust {
	text := err.Error()
	switch {
	case strings.Contains(text, "didn't provide a certificate"):
		return &Distrust{Reason: NoCertificate, Err: err}
	case strings.Contains(text, "unsupported versions"), strings.Contains(text, "no cipher suite supported by both"):
		return &Distrust{Reason: OldTLS, Err: err}
	}
	return &Distrust{Reason: Unclear, Err: err}
}
