package httprequest

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

var errConfig = errors.New("the manifest's config is not one of kind http")

// config is what a manifest of kind http says, read.
type config struct {
	method    string
	origin    string // "https://api.example.com", fixed: no argument leads elsewhere
	path      []part // after the origin, beginning with a slash
	query     []pair
	headers   []header
	body      body
	argument  string // the one argument that is the body
	hosts     []string
	private   bool
	redirects int
	inURL     map[string]bool // arguments that the URL takes
}

type body uint8

const (
	noBody   body = iota
	restBody      // an object of the arguments that the URL does not take
	oneBody       // one argument
)

type header struct{ name, text string }

const (
	maxRedirects = 10
	maxHosts     = 32
	maxHeaders   = 64
)

func wrong(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// readConfig reads the part of a manifest that is the kind's:
//
//	method     GET when absent
//	url        absolute; {NAME} in path and query takes an argument
//	headers    fixed; a last word secret:NAME is replaced on the node that sends
//	body       none, rest, or {NAME}; rest for POST, PUT and PATCH, none for others
//	hosts      where redirects may lead, beside the URL's own host
//	redirects  how many are followed; 0 when absent
//	private    true: the tool may reach private addresses
func readConfig(m *kerneltools.Manifest) (*config, *failure.Refusal) {
	c := &config{method: http.MethodGet, inURL: make(map[string]bool)}
	var address, wants string
	rd := value.NewReader(m.Config)
	members, _ := rd.ReadMapHeader()
	for range members {
		name, _ := rd.ReadString()
		raw := rd.Skip()
		ok := true
		switch name {
		case "method":
			c.method, ok = raw.Text()
		case "url":
			address, ok = raw.Text()
		case "headers":
			if refusal := c.readHeaders(m, raw); refusal != nil {
				return nil, refusal
			}
		case "body":
			wants, ok = raw.Text()
		case "hosts":
			if refusal := c.readHosts(raw); refusal != nil {
				return nil, refusal
			}
		case "redirects":
			var n int64
			n, ok = raw.Int()
			if ok = ok && n >= 0 && n <= maxRedirects; ok {
				c.redirects = int(n)
			} else {
				return nil, wrong("config.redirects", "must be an integer from 0 to 10")
			}
		case "private":
			c.private, ok = raw.Bool()
		default:
			return nil, wrong(value.JoinKey("config", value.JoinKey(name, "")), "is nothing that kind http knows: it knows method, url, headers, body, hosts, redirects, private")
		}
		if !ok {
			return nil, wrong("config."+name, "is of the wrong type")
		}
	}
	if !slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}, c.method) {
		return nil, wrong("config.method", "must be one of GET, HEAD, POST, PUT, PATCH, DELETE")
	}
	if refusal := c.readURL(m, address); refusal != nil {
		return nil, refusal
	}
	return c, c.readBody(m, wants)
}

func (c *config) readHeaders(m *kerneltools.Manifest, raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok || n > maxHeaders {
		return wrong("config.headers", "must be an object of at most 64 texts")
	}
	for range n {
		name, _ := rd.ReadString()
		text, ok := rd.Skip().Text()
		field := value.JoinKey("config", value.JoinKey("headers", value.JoinKey(name, "")))
		switch {
		case !ok:
			return wrong(field, "must be a text")
		case !isToken(name):
			return wrong(field, "is not a header name")
		case refusedHeaders[http.CanonicalHeaderKey(name)]:
			return wrong(field, "is not the manifest's to set")
		case !isHeaderValue(text):
			return wrong(field, "must be visible ASCII and spaces")
		}
		if _, secret, ok := cutSecret(text); ok && !slices.Contains(m.Secrets, secret) {
			return wrong(field, "uses the secret "+strconv.Quote(secret)+", which secrets must list")
		}
		c.headers = append(c.headers, header{http.CanonicalHeaderKey(name), text})
	}
	return nil
}

func (c *config) readHosts(raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadListHeader()
	if !ok || n > maxHosts {
		return wrong("config.hosts", "must be a list of at most 32 hosts")
	}
	for i := range n {
		host, ok := rd.Skip().Text()
		if !ok || host == "" || host != strings.ToLower(host) || strings.ContainsAny(host, "/?#@{} *") {
			return wrong("config.hosts["+strconv.FormatUint(i, 10)+"]", "must be a host in lower case, with its port where that is not the scheme's own")
		}
		c.hosts = append(c.hosts, host)
	}
	return nil
}

// readURL takes the template apart. What no argument changes is fixed here.
func (c *config) readURL(m *kerneltools.Manifest, address string) *failure.Refusal {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return wrong("config.url", "must begin with http:// or https://")
	}
	if strings.ContainsAny(address, "#\\ ") || len(address) > 4096 {
		return wrong("config.url", "must be at most 4096 bytes, without fragment, backslash or space")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host := rest[:end]
	if parsed, err := url.Parse(scheme + "://" + host); err != nil || parsed.Hostname() == "" || parsed.User != nil || strings.ContainsAny(host, "{}%") || host != strings.ToLower(host) {
		return wrong("config.url", "must have a host in lower case, without user and without arguments: where a tool goes is fixed")
	}
	c.origin = scheme + "://" + host
	c.hosts = append(c.hosts, host)
	path, query, _ := strings.Cut(rest[end:], "?")
	if path == "" {
		path = "/"
	}
	var broken string
	if c.path, broken = parts(path); broken != "" {
		return wrong("config.url", broken)
	}
	for _, p := range c.path {
		if rule := c.takes(m, p, true); rule != "" {
			return wrong("config.url", rule)
		}
	}
	if query == "" {
		return nil
	}
	for piece := range strings.SplitSeq(query, "&") {
		name, text, _ := strings.Cut(piece, "=")
		one := pair{name: name}
		if one.text, broken = parts(text); broken != "" || strings.ContainsAny(name, "{}") {
			return wrong("config.url", "must name the members of its query, and take arguments as their values: ?name={argument}")
		}
		for _, p := range one.text {
			if rule := c.takes(m, p, false); rule != "" {
				return wrong("config.url", rule)
			}
		}
		c.query = append(c.query, one)
	}
	return nil
}

// takes notes an argument of the URL: the schema must have it, or a call would fail
// that was registered as one that can be made.
func (c *config) takes(m *kerneltools.Manifest, p part, needed bool) (rule string) {
	if p.argument == "" {
		return ""
	}
	c.inURL[p.argument] = true
	return tools.Argument(m, p.argument, needed, "string", "integer", "boolean")
}

func (c *config) readBody(m *kerneltools.Manifest, wants string) *failure.Refusal {
	if wants == "" {
		wants = "none"
		if c.method == http.MethodPost || c.method == http.MethodPut || c.method == http.MethodPatch {
			wants = "rest"
		}
	}
	switch name, ok := argumentIn(wants); {
	case ok:
		c.body, c.argument = oneBody, name
		if rule := tools.Argument(m, name, true, "string", "integer", "boolean", "number", "object", "array", "null"); rule != "" {
			return wrong("config.body", rule)
		}
	case wants == "rest":
		c.body = restBody
	case wants != "none":
		return wrong("config.body", "must be none, rest, or one argument as {name}")
	}
	if c.body != noBody && (c.method == http.MethodGet || c.method == http.MethodHead) {
		return wrong("config.body", "must be none for "+c.method)
	}
	return nil
}
