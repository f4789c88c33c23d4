package httpapi

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/transport/api"
)

// params are a request's query parameters, checked against the route's list.
// The first rule that one breaks is kept.
type params struct {
	values url.Values
	broken *api.Error
}

func (rt *route) params(r *http.Request) *params {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := &params{values: values}
	if err != nil {
		p.broken = invalid("query", "is not well-formed", "")
		return p
	}
	names := make([]string, 0, len(rt.query))
	for i := range rt.query {
		names = append(names, rt.query[i].name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.Index(names, name)
		switch {
		case i < 0:
			p.fail(name, "unknown parameter", "known parameters: "+strings.Join(names, ", "))
		case len(values[name]) > 1 && !rt.query[i].many:
			p.fail(name, "is given twice", "")
		}
	}
	return p
}

func (p *params) fail(name, rule, hint string) {
	if p.broken == nil {
		p.broken = invalid(name, rule, hint)
	}
}

// number reads a whole number of at least least; 0 when it is not given.
func (p *params) number(name string, least, most uint64) uint64 {
	text := p.values.Get(name)
	if text == "" && !p.values.Has(name) {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n < least || n > most {
		rule := "must be a whole number from " + strconv.FormatUint(least, 10)
		if most < math.MaxInt64 {
			rule += " to " + strconv.FormatUint(most, 10)
		}
		p.fail(name, rule, "")
	}
	return n
}

// truth reads true or false; false when it is not given.
func (p *params) truth(name string) bool {
	switch p.values.Get(name) {
	case "true":
		return true
	case "false":
	default:
		if p.values.Has(name) {
			p.fail(name, "must be true or false", "")
		}
	}
	return false
}

func (p *params) limit() int {
	if n := p.number("limit", 1, api.MaxPageItems); n != 0 {
		return int(n)
	}
	return api.DefaultPageItems
}

// agent reads an agent's UUID; the zero id when it is not given.
func (p *params) agent(name string) (id identity.ID, given bool) {
	text := p.values.Get(name)
	if text == "" && !p.values.Has(name) {
		return id, false
	}
	id, ok := flows.ParseID(text)
	if !ok {
		p.fail(name, "must be a UUID such as 018f4e5c-0000-7000-8000-000000000001", "")
	}
	return id, true
}

// consistency reads what CL-4 offers.
func (p *params) consistency() cluster.Consistency {
	c := cluster.Consistency{Level: cluster.Linearizable}
	word := p.values.Get("consistency")
	switch word {
	case api.Linearizable:
	case api.SessionLevel:
		c.Level = cluster.Session
	case api.Stale:
		c.Level = cluster.Stale
	default:
		if p.values.Has("consistency") {
			p.fail("consistency", "must be one of "+strings.Join(api.Levels[:], ", "), "")
		}
	}
	c.MinIndex = p.number("min_index", 0, math.MaxUint64)
	if p.values.Has("max_lag_ms") {
		c.MaxLag = time.Duration(p.number("max_lag_ms", 1, uint64(math.MaxInt64/time.Millisecond))) * time.Millisecond
		if c.Level != cluster.Stale {
			p.fail("max_lag_ms", "goes with consistency=stale", "")
		}
	}
	return c
}

// check gives the first rule that was broken.
func (p *params) check() *api.Error { return p.broken }
