package httpapi

import (
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func (s *Server) makeSend(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.Send{Agent: r.PathValue("id")}
	e := decodeSend(body, "", c)
	if e == nil {
		e = checkSend(c)
	}
	return event.AgentSend, c, e
}

func (s *Server) makeReclassify(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.Reclassify{Agent: r.PathValue("id")}
	e := decodeReclassify(body, "", c)
	if e == nil {
		e = checkReclassify(c)
	}
	return event.AgentReclassify, c, e
}

func (s *Server) makeRevokeToken(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.RevokeToken{Agent: r.PathValue("token")}
	e := decodeRevokeToken(body, "", c)
	if e == nil {
		e = s.resolveToken(r.Context(), &c.Agent)
	}
	return event.TokenRevoke, c, e
}

func (s *Server) makeRevokeGrant(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	grant, e := inAddress("grant", r.PathValue("grant"), 0, math.MaxUint32)
	c := &event.RevokeGrant{Agent: r.PathValue("id"), Grant: uint32(grant)}
	if e == nil {
		e = decodeRevokeGrant(body, "", c)
	}
	if e == nil {
		e = checkRevokeGrant(c)
	}
	return event.GrantRevoke, c, e
}

func (s *Server) makeDecide(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	number, e := inAddress("escalation", r.PathValue("escalation"), 1, mostSeq)
	c := &event.Decide{Escalation: number}
	if e == nil {
		e = decodeDecide(body, "", c)
	}
	return event.EscalationDecide, c, e
}

func checkSend(c *event.Send) *api.Error { return checkAgent(c.Agent) }

func checkReclassify(c *event.Reclassify) *api.Error {
	if e := checkAgent(c.Agent); e != nil {
		return e
	}
	if c.Reason == "" {
		return invalid("reason", "must say why the fault is a passing one", "")
	}
	return nil
}

func checkRevokeGrant(c *event.RevokeGrant) *api.Error { return checkAgent(c.Agent) }

func checkDecide(c *event.Decide) *api.Error {
	if c.Escalation == 0 {
		return invalid("escalation", "must be the number of an escalation", "see what waits with: omni escalation list")
	}
	return nil
}
