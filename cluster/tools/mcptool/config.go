package mcptool

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

var errConfig = errors.New("the manifest's config is not one of kind mcp, or names a server that this node does not have")

// Bounds of a config.
const (
	maxHeaders   = 64
	maxToolBytes = 256
)

func wrong(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// config is what a manifest of kind mcp says, read.
type config struct {
	server mcpclient.Server
	tool   string
}

// readConfig reads the part of a manifest that is the kind's:
//
//	tool     what the server calls it
//	server   the name of a server that the node has; or
//	url      where one is, with
//	headers  fixed; a last word secret:NAME is replaced on the node that sends
//	private  true: the URL may lead to private addresses
func (k *Kind) readConfig(m *kerneltools.Manifest) (*config, *failure.Refusal) {
	c := new(config)
	var named string
	rd := value.NewReader(m.Config)
	members, _ := rd.ReadMapHeader()
	for range members {
		name, _ := rd.ReadString()
		raw := rd.Skip()
		ok := true
		switch name {
		case "tool":
			c.tool, ok = raw.Text()
		case "server":
			named, ok = raw.Text()
		case "url":
			c.server.URL, ok = raw.Text()
		case "headers":
			if refusal := c.readHeaders(m, raw); refusal != nil {
				return nil, refusal
			}
		case "private":
			c.server.Private, ok = raw.Bool()
		default:
			return nil, wrong(value.JoinKey("config", value.JoinKey(name, "")), "is nothing that kind mcp knows: it knows tool, server, url, headers, private")
		}
		if !ok {
			return nil, wrong("config."+name, "is of the wrong type")
		}
	}
	if c.tool == "" || len(c.tool) > maxToolBytes {
		return nil, wrong("config.tool", "must be what the server calls the tool, 1 to 256 bytes")
	}
	return c, k.readServer(c, named)
}

func (k *Kind) readServer(c *config, named string) *failure.Refusal {
	switch {
	case named == "" && c.server.URL == "":
		return wrong("config.server", "must be the name of a server that the node has; without it config.url must be where one is")
	case named == "":
		if rule := URLRule(c.server.URL); rule != "" {
			return wrong("config.url", rule)
		}
		return nil
	case c.server.URL != "" || c.server.Headers != nil || c.server.Private:
		return wrong("config.server", "says how the server is reached: url, headers and private must not")
	}
	server, known := k.servers[named]
	if !known {
		refusal := wrong("config.server", "is no server that this node has")
		refusal.Hint = "it has: " + strings.Join(k.names(), ", ") + "; an operator names servers with omni server --mcp-servers FILE"
		if len(k.servers) == 0 {
			refusal.Hint = "an operator names servers with omni server --mcp-servers FILE"
		}
		return refusal
	}
	c.server = server
	return nil
}

// URLRule says why a text is no server's URL; empty when it is one.
func URLRule(text string) string {
	if _, _, refusal := new(httprequest.Service).At(text); refusal != nil {
		return refusal.Rule
	}
	if _, err := url.Parse(text); err != nil {
		return "is no URL"
	}
	return ""
}

func (c *config) readHeaders(m *kerneltools.Manifest, raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok || n > maxHeaders {
		return wrong("config.headers", "must be an object of at most 64 texts")
	}
	c.server.Headers = make(map[string]string, n)
	for range n {
		name, _ := rd.ReadString()
		text, ok := rd.Skip().Text()
		field := value.JoinKey("config", value.JoinKey("headers", value.JoinKey(name, "")))
		if !ok {
			return wrong(field, "must be a text")
		}
		if rule := httprequest.HeaderRule(name, text); rule != "" {
			return wrong(field, rule)
		}
		if _, secret, ok := httprequest.CutSecret(text); ok && !slices.Contains(m.Secrets, secret) {
			return wrong(field, "uses the secret "+strconv.Quote(secret)+", which secrets must list")
		}
		c.server.Headers[name] = text
	}
	return nil
}
