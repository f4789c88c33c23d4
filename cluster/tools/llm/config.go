package llm

import (
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// config is what a manifest of kind llm says, read.
type config struct {
	service     httprequest.Service
	address     string
	model       string
	maxTokens   int64
	limitName   string // what the service calls the limit of an answer's tokens
	temperature value.Raw
	prices      prices
}

const (
	maxModelBytes = 256
	maxTokens     = 1_000_000
	known         = "url, model, max_tokens, max_tokens_as, temperature, prices, headers, hosts, redirects, private"
)

func wrong(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// readConfig reads the part of a manifest that is the kind's:
//
//	url            of the service; requests go to /chat/completions below it
//	model          which one
//	max_tokens     how many an answer may have
//	max_tokens_as  what the service calls that; max_tokens when absent
//	temperature    sent if it is there, and if a call says nothing of it
//	prices         what tokens cost
//
// and the members of httprequest.Service.
func readConfig(m *kerneltools.Manifest) (*config, *failure.Refusal) {
	c := &config{limitName: "max_tokens"}
	var address string
	rd := value.NewReader(m.Config)
	members, _ := rd.ReadMapHeader()
	for range members {
		name, _ := rd.ReadString()
		raw := rd.Skip()
		refusal := c.read(m, name, raw, &address)
		if refusal != nil {
			return nil, refusal
		}
	}
	switch {
	case c.model == "":
		return nil, wrong("config.model", "must name a model")
	case c.maxTokens == 0:
		return nil, wrong("config.max_tokens", "must say how many tokens an answer may have, from 1 to 1000000")
	}
	origin, rest, refusal := c.service.At(address)
	if refusal != nil {
		return nil, refusal
	}
	if strings.ContainsAny(rest, "{}") {
		return nil, wrong("config.url", "must not have { or }: nothing of a call goes there")
	}
	path, query, some := strings.Cut(rest, "?")
	c.address = origin + strings.TrimSuffix(path, "/") + "/chat/completions"
	if some {
		c.address += "?" + query
	}
	return c, c.covered(m)
}

func (c *config) read(m *kerneltools.Manifest, name string, raw value.Raw, address *string) *failure.Refusal {
	var ok bool
	var rule string
	switch name {
	case "url":
		*address, ok = raw.Text()
		rule = "must be a text"
	case "model":
		c.model, ok = raw.Text()
		ok = ok && c.model != "" && len(c.model) <= maxModelBytes
		rule = "must be a text of 1 to 256 bytes"
	case "max_tokens":
		c.maxTokens, ok = raw.Int()
		ok = ok && c.maxTokens >= 1 && c.maxTokens <= maxTokens
		rule = "must be an integer from 1 to 1000000"
	case "max_tokens_as":
		c.limitName, ok = raw.Text()
		ok = ok && (c.limitName == "max_tokens" || c.limitName == "max_completion_tokens")
		rule = "must be max_tokens or max_completion_tokens"
	case "temperature":
		c.temperature, ok = raw, isTemperature(raw)
		rule = "must be a number from 0 to 2"
	case "prices":
		return c.prices.read(raw)
	default:
		taken, refusal := c.service.Read(m, name, raw)
		if taken || refusal != nil {
			return refusal
		}
		return wrong(value.JoinKey("config", value.JoinKey(name, "")), "is nothing that kind llm knows: it knows "+known)
	}
	if !ok {
		return wrong("config."+name, rule)
	}
	return nil
}

// covered is whether the cost that is reserved for a call covers the longest answer:
// a manifest that reserves less would let calls in for which there is no room. What
// the conversation comes to nobody knows before.
func (c *config) covered(m *kerneltools.Manifest) *failure.Refusal {
	if m.Cost.Tokens < uint64(c.maxTokens) {
		return wrong("cost.tokens", "must cover an answer of config.max_tokens, and the conversation: at least "+strconv.FormatInt(c.maxTokens, 10))
	}
	if least := c.prices.of(0, uint64(c.maxTokens)); m.Cost.USDMicros < least {
		return wrong("cost.usd_micros", "must cover an answer of config.max_tokens at config.prices.output, and the conversation: at least "+strconv.FormatUint(least, 10))
	}
	return nil
}

func isTemperature(raw value.Raw) bool {
	switch n := raw.ToGo().(type) {
	case int64:
		return n >= 0 && n <= 2
	case float64:
		return n >= 0 && n <= 2
	}
	return false
}
