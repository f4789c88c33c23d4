package httpapi

import (
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func (s *Server) makeSend(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.AgentSend, &event.Send{Agent: r.PathValue("id")}, body, decodeSend, checkSend)
}

func (s *Server) makeReclassify(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.AgentReclassify, &event.Reclassify{Agent: r.PathValue("id")}, body, decodeReclassify, checkReclassify)
}

func (s *Server) makeRevokeToken(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.TokenRevoke, &event.RevokeToken{Agent: r.PathValue("token")}, body, decodeRevokeToken,
		func(c *event.RevokeToken) *api.Error { return s.resolveToken(r.Context(), &c.Agent) })
}

func (s *Server) makeRevokeGrant(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	grant, e := inAddress("grant", r.PathValue("grant"), 0, math.MaxUint32)
	if e != nil {
		return 0, nil, e
	}
	return made(event.GrantRevoke, &event.RevokeGrant{Agent: r.PathValue("id"), Grant: uint32(grant)}, body, decodeRevokeGrant, checkRevokeGrant)
}

func (s *Server) makeSetBudget(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.BudgetSet, &event.SetBudget{Agent: r.PathValue("id")}, body, decodeSetBudget, checkSetBudget)
}

func (s *Server) makeDecide(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	number, e := inAddress("escalation", r.PathValue("escalation"), 1, mostSeq)
	if e != nil {
		return 0, nil, e
	}
	return made(event.EscalationDecide, &event.Decide{Escalation: number}, body, decodeDecide, checkDecide)
}

func (s *Server) makeArchive(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.LogArchive, &event.ArchiveLog{Before: mostSeq}, body, decodeArchive, func(*event.ArchiveLog) *api.Error { return nil })
}

func (s *Server) makeSuspend(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.KernelSuspend, new(event.SuspendKernel), body, decodeSuspend, checkSuspend)
}

func (s *Server) makeResume(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.KernelResume, new(event.ResumeKernel), body, decodeResume, func(*event.ResumeKernel) *api.Error { return nil })
}

func checkSuspend(c *event.SuspendKernel) *api.Error {
	if c.Reason == "" {
		return invalid("reason", "must say why everything is stopped", "")
	}
	return nil
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

func checkSetBudget(c *event.SetBudget) *api.Error { return checkAgent(c.Agent) }

func checkDecide(c *event.Decide) *api.Error {
	if c.Escalation == 0 {
		return invalid("escalation", "must be the number of an escalation", "see what waits with: omni escalation list")
	}
	return nil
}
