package httprequest

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Service is the part of a config that says where a tool's requests go: one origin,
// with fixed headers, and no further than the manifest lets them. Every kind that
// speaks HTTP has it.
//
//	headers    fixed; a last word secret:NAME is replaced on the node that sends
//	hosts      where redirects may lead, beside the URL's own host
//	redirects  how many are followed; 0 when absent
//	private    true: the tool may reach private addresses
type Service struct {
	origin    string // "https://api.example.com", fixed: no argument leads elsewhere
	headers   []header
	hosts     []string
	private   bool
	redirects int
}

type header struct{ name, text string }

const (
	maxRedirects = 10
	maxHosts     = 32
	maxHeaders   = 64
)

func wrong(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// Read takes one member of a config, if it is one of the service's.
func (s *Service) Read(m *kerneltools.Manifest, name string, raw value.Raw) (known bool, refusal *failure.Refusal) {
	switch name {
	case "headers":
		return true, s.readHeaders(m, raw)
	case "hosts":
		return true, s.readHosts(raw)
	case "redirects":
		n, ok := raw.Int()
		if !ok || n < 0 || n > maxRedirects {
			return true, wrong("config.redirects", "must be an integer from 0 to 10")
		}
		s.redirects = int(n)
		return true, nil
	case "private":
		var ok bool
		if s.private, ok = raw.Bool(); !ok {
			return true, wrong("config.private", "must be true or false")
		}
		return true, nil
	}
	return false, nil
}

// At fixes the origin by config.url, and gives what follows it: path and query, which
// are not looked at.
func (s *Service) At(address string) (origin, rest string, refusal *failure.Refusal) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || scheme != "http" && scheme != "https" {
		return "", "", wrong("config.url", "must begin with http:// or https://")
	}
	if strings.ContainsAny(address, "#\\ ") || len(address) > 4096 {
		return "", "", wrong("config.url", "must be at most 4096 bytes, without fragment, backslash or space")
	}
	end := strings.IndexAny(rest, "/?")
	if end < 0 {
		end = len(rest)
	}
	host := rest[:end]
	if parsed, err := url.Parse(scheme + "://" + host); err != nil || parsed.Hostname() == "" || parsed.User != nil || strings.ContainsAny(host, "{}%") || host != strings.ToLower(host) {
		return "", "", wrong("config.url", "must have a host in lower case, without user and without arguments: where a tool goes is fixed")
	}
	s.origin = scheme + "://" + host
	s.hosts = append(s.hosts, host)
	return s.origin, rest[end:], nil
}

func (s *Service) readHeaders(m *kerneltools.Manifest, raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok || n > maxHeaders {
		return wrong("config.headers", "must be an object of at most 64 texts")
	}
	for range n {
		name, _ := rd.ReadString()
		text, ok := rd.Skip().Text()
		field := value.JoinKey("config", value.JoinKey("headers", value.JoinKey(name, "")))
		if !ok {
			return wrong(field, "must be a text")
		}
		if rule := HeaderRule(name, text); rule != "" {
			return wrong(field, rule)
		}
		if _, secret, ok := cutSecret(text); ok && !slices.Contains(m.Secrets, secret) {
			return wrong(field, "uses the secret "+strconv.Quote(secret)+", which secrets must list")
		}
		s.headers = append(s.headers, header{http.CanonicalHeaderKey(name), text})
	}
	return nil
}

func (s *Service) readHosts(raw value.Raw) *failure.Refusal {
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
		s.hosts = append(s.hosts, host)
	}
	return nil
}
