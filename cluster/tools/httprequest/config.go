package httprequest

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

var errConfig = errors.New("the manifest's config is not one of kind http")

// config is what a manifest of kind http says, read.
type config struct {
	Service
	method   string
	path     []part // after the origin, beginning with a slash
	query    []pair
	body     body
	argument string          // the one argument that is the body
	inURL    map[string]bool // arguments that the URL takes
}

type body uint8

const (
	noBody   body = iota
	restBody      // an object of the arguments that the URL does not take
	oneBody       // one argument
)

// readConfig reads the part of a manifest that is the kind's:
//
//	method  GET when absent
//	url     absolute; {NAME} in path and query takes an argument
//	body    none, rest, or {NAME}; rest for POST, PUT and PATCH, none for others
//
// and the members of Service.
func readConfig(m *kerneltools.Manifest) (*config, *failure.Refusal) {
	c := &config{method: http.MethodGet, inURL: make(map[string]bool)}
	var address, wants string
	rd := value.NewReader(m.Config)
	members, _ := rd.ReadMapHeader()
	for range members {
		name, _ := rd.ReadString()
		raw := rd.Skip()
		var ok bool
		switch name {
		case "method":
			c.method, ok = raw.Text()
		case "url":
			address, ok = raw.Text()
		case "body":
			wants, ok = raw.Text()
		default:
			known, refusal := c.Read(m, name, raw)
			if refusal != nil {
				return nil, refusal
			}
			if known {
				continue
			}
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

// readURL takes the template apart. What no argument changes is fixed here.
func (c *config) readURL(m *kerneltools.Manifest, address string) *failure.Refusal {
	_, rest, refusal := c.At(address)
	if refusal != nil {
		return refusal
	}
	path, query, _ := strings.Cut(rest, "?")
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
