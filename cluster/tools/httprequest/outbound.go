package httprequest

import (
	"errors"
	"net/http"
)

// Kinds that speak another protocol over HTTP keep to the same rules: what they reach,
// what they may set, and what a secret is.

// NewTransport makes connections as the tools of kind http do, directly and through no
// proxy. Unless private is set an address that is not public is refused where it is
// dialled (TO-11).
func NewTransport(private bool) *http.Transport {
	if private {
		return newTransport(nil)
	}
	return newTransport(onlyPublic)
}

// IsPrivate tells whether a request failed because its address is not public.
func IsPrivate(err error) bool { return errors.Is(err, errPrivate) }

// WhyUnreachable says in our own words why there was no connection.
func WhyUnreachable(err error) string { return whyUnreachable(err) }

// HeaderRule says why a manifest may not set a header to a text; empty when it may.
func HeaderRule(name, text string) string {
	switch {
	case !isToken(name):
		return "is not a header name"
	case refusedHeaders[http.CanonicalHeaderKey(name)]:
		return "is not the manifest's to set"
	case !isHeaderValue(text):
		return "must be visible ASCII and spaces"
	}
	return ""
}

// CutSecret takes a text apart whose last word is secret:NAME.
func CutSecret(text string) (before, name string, ok bool) { return cutSecret(text) }

// Redactor takes secrets out of what came back from whom they were told to (TO-7).
type Redactor struct{ used secrets }

// Add has a secret taken out from now on.
func (r *Redactor) Add(name, plain string) { r.used = append(r.used, usedSecret{name, plain}) }

// Any tells whether there is a secret to take out.
func (r *Redactor) Any() bool { return len(r.used) > 0 }

// Text is a text without the secrets.
func (r *Redactor) Text(text string) string { return r.used.redact(text) }

// Value is a decoded JSON value without them, changed in place where it can be.
func (r *Redactor) Value(v any) any {
	if len(r.used) == 0 {
		return v
	}
	return r.used.redactValue(v)
}
