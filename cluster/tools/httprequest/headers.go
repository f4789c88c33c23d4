package httprequest

import (
	"net/http"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// refusedHeaders are what a program may not set: framing and connection
// headers, which belong to the transport; the idempotency key, which belongs
// to the kernel; and those by which common servers act on another method, host
// or path than the request line's, and so than the gate's.
var refusedHeaders = map[string]bool{
	"Host": true, "Content-Length": true, "Transfer-Encoding": true, "Connection": true, "Keep-Alive": true,
	"Te": true, "Trailer": true, "Upgrade": true, "Expect": true, "Proxy-Connection": true,
	"Proxy-Authorization": true, "Proxy-Authenticate": true, "Accept-Encoding": true, "Http2-Settings": true,
	"Idempotency-Key": true, "X-Idempotency-Key": true,
	"X-Http-Method-Override": true, "X-Http-Method": true, "X-Method-Override": true,
	"X-Original-Url": true, "X-Rewrite-Url": true, "X-Original-Uri": true,
	"X-Forwarded-Host": true, "X-Forwarded-Prefix": true, "X-Forwarded-Server": true, "Forwarded": true,
}

// setHeaders copies the arguments' headers, with secrets in the place of their
// names, and returns those secrets.
func (a *Adapter) setHeaders(request *http.Request, args value.Raw) (secrets, *failure.Failure) {
	headers, ok := args.Get("headers")
	if !ok {
		return nil, nil
	}
	origin := request.URL.Scheme + "://" + request.URL.Host
	var used secrets
	reader := value.NewReader(headers)
	n, _ := reader.ReadMapHeader()
	for range n {
		name, _ := reader.ReadString()
		text, _ := reader.ReadString()
		key := http.CanonicalHeaderKey(name)
		field := value.JoinKey("headers", value.JoinKey(name, ""))
		switch {
		case !isToken(name):
			return nil, invalid(field + " is not a header name")
		case refusedHeaders[key]:
			return nil, invalid(field + " is not the program's to set")
		case request.Header[key] != nil:
			return nil, invalid(field + " is there twice")
		case !isHeaderValue(text):
			return nil, invalid(field + " must be visible ASCII and spaces")
		}
		if before, secret, ok := cutSecret(text); ok {
			plain, known := a.lookUp(secret, origin)
			if !known {
				return nil, invalid(field + " names a secret that this node does not have for this host")
			}
			if !isHeaderValue(plain) {
				return nil, invalid(field + " names a secret that cannot stand in a header")
			}
			used = append(used, usedSecret{name: secret, plain: plain})
			text = before + plain
		}
		request.Header[key] = []string{text}
	}
	return used, nil
}

func (a *Adapter) lookUp(name, origin string) (string, bool) {
	if a.options.Secrets == nil {
		return "", false
	}
	return a.options.Secrets(name, origin)
}

// isToken follows RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return s != ""
}

func isHeaderValue(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}
