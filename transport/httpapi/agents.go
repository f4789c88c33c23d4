package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/transport/api"
)

// maxLooked bounds how many agents one listing looks at: a rare state or label
// gives short pages instead of long waits.
const maxLooked = 50_000

// selection is what a listing wants.
type selection struct {
	inState *lifecycle.State
	labels  map[string]string
	// known remembers, by number of the interned labels, whether they match:
	// many agents share few of them.
	known map[uint32]bool
}

func (p *params) selection() *selection {
	sel := &selection{known: make(map[uint32]bool)}
	if name := p.values.Get("state"); name != "" || p.values.Has("state") {
		state, ok := lifecycle.ParseState(name)
		if !ok {
			p.fail("state", "must be one of "+stateNames, "")
		}
		sel.inState = &state
	}
	p.labels(sel)
	return sel
}

// labels adds the labels that are wanted.
func (p *params) labels(sel *selection) {
	for _, text := range p.values["label"] {
		key, want, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			p.fail("label", "must be key=value", "")
		}
		if sel.labels == nil {
			sel.labels = make(map[string]string)
		}
		sel.labels[key] = want
	}
}

var stateNames = func() string {
	names := make([]string, 0, lifecycle.States)
	for state := range lifecycle.State(lifecycle.States) {
		names = append(names, state.String())
	}
	return strings.Join(names, ", ")
}()

// listAgents serves GET …/agents, in order of the agents' ids.
func (s *Server) listAgents(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	sel, limit, consistency := p.selection(), p.limit(), p.consistency()
	after, resumed := p.agent("after")
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	page := &api.AgentPage{Agents: []api.AgentSummary{}, As: as(&view)}
	looked := 0
	var last identity.ID
	view.Identity.From(after, func(id identity.ID, no uint32) bool {
		if resumed && id == after {
			return true
		}
		if len(page.Agents) == limit || looked == maxLooked {
			page.Next = flows.FormatID(last)
			return false
		}
		looked++
		last = id
		if row, ok := sel.row(&view, no); ok {
			page.Agents = append(page.Agents, row)
		}
		return true
	})
	return page, nil
}

// row gives the agent's line when it is selected.
func (sel *selection) row(v *cluster.View, no uint32) (api.AgentSummary, bool) {
	row := v.Agents.Get(no)
	if row == nil || (sel.inState != nil && row.Lifecycle.State != *sel.inState) || !sel.labelled(v, row.Identity.Labels) {
		return api.AgentSummary{}, false
	}
	id := &row.Identity
	return api.AgentSummary{
		AgentID: flows.FormatID(id.ID), Name: id.Name, State: row.Lifecycle.State.String(), Mode: id.Mode.String(),
		Labels: texts(v.State, id.Labels), DefinedAt: id.DefinedAt,
	}, true
}

func (sel *selection) labelled(v *cluster.View, no uint32) bool {
	if len(sel.labels) == 0 {
		return true
	}
	match, ok := sel.known[no]
	if ok {
		return match
	}
	have := texts(v.State, no)
	match = true
	for key, want := range sel.labels {
		if value, ok := have[key]; !ok || value != want {
			match = false
		}
	}
	sel.known[no] = match
	return match
}
