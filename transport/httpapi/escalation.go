package httpapi

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
)

// listEscalations serves GET …/escalations: what waits for a decision, oldest
// first.
func (s *Server) listEscalations(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, consistency, after := p.limit(), p.consistency(), p.number("after", 1, mostSeq)
	agent, only := p.agent("agent")
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	page := &api.EscalationPage{Escalations: []api.OpenEscalation{}, As: as(&view)}
	take := func(open *permissions.Escalation) bool {
		if open.ID <= after {
			return true
		}
		if len(page.Escalations) == limit {
			page.Next = page.Escalations[limit-1].Escalation
			return false
		}
		page.Escalations = append(page.Escalations, escalation(&view, open))
		return true
	}
	if !only {
		view.Escalations.All(take)
		return page, nil
	}
	no, row := view.Find(agent)
	if row == nil {
		return nil, noAgent(&view, "agent")
	}
	view.Escalations.OfAgent(no, take)
	return page, nil
}

// getEscalation serves GET …/escalations/{escalation}.
func (s *Server) getEscalation(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	number, e := inAddress("escalation", r.PathValue("escalation"), 1, mostSeq)
	if e != nil {
		return nil, e
	}
	consistency := p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	open, ok := view.Escalations.Get(number)
	if !ok {
		e := refused(api.CodeNotFound, "escalation", "no request of this number waits: it was decided, withdrawn, or its time is over",
			"what there was is in the log: omni log --limit 1 --from "+strconv.FormatUint(number, 10))
		e.Index = view.Index
		return nil, e
	}
	return &api.EscalationAnswer{OpenEscalation: escalation(&view, open), As: as(&view)}, nil
}

func escalation(v *cluster.View, e *permissions.Escalation) api.OpenEscalation {
	o := api.OpenEscalation{
		Escalation: e.ID, AgentID: idOf(v, e.Agent), Tick: e.Tick, Call: e.Call, Tool: e.Tool, Args: e.Args,
		Action: e.Action, Resource: e.Resource, Digest: hex.EncodeToString(e.Digest[:]), HandlerID: idOf(v, e.Handler),
		Offered: e.Offered, Deadline: e.Deadline, LevelID: idOf(v, e.Level), Position: e.Grant,
	}
	if row := v.Agents.Get(e.Agent); row != nil {
		o.Name = row.Identity.Name
	}
	if e.Level == 0 {
		o.LevelID = o.AgentID
	}
	if grants := grantsOf(v, e.Grants); e.Grant >= 0 && int(e.Grant) < len(grants) {
		o.Grant = &grants[e.Grant]
	}
	return o
}
