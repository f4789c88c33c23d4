package httpapi

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// decodeOther decodes the operations of a batch that are less frequent.
func (s *Server) decodeOther(b *beside, op api.Op, f field, path string) (kind event.Kind, command any, refusal, e *api.Error) {
	switch op {
	case api.OpSend:
		return decodeAs(event.AgentSend, f, decodeSend, checkSend)
	case api.OpReclassify:
		return decodeAs(event.AgentReclassify, f, decodeReclassify, checkReclassify)
	case api.OpRevokeToken:
		return decodeAs(event.TokenRevoke, f, decodeRevokeToken, func(c *event.RevokeToken) *api.Error {
			return s.resolveToken(b.ctx, &c.Agent)
		})
	case api.OpRevokeGrant:
		return decodeAs(event.GrantRevoke, f, decodeRevokeGrant, checkRevokeGrant)
	case api.OpSetBudget:
		return decodeAs(event.BudgetSet, f, decodeSetBudget, checkSetBudget)
	case api.OpDecide:
		return decodeAs(event.EscalationDecide, f, decodeDecide, checkDecide)
	case api.OpPutShared:
		return decodeAs(event.SharedPut, f, decodePutShared, checkPutShared)
	case api.OpDeleteShared:
		return decodeAs(event.SharedDelete, f, decodeDeleteShared, checkDeleteShared)
	}
	return 0, nil, nil, invalid(below(path, "op"), "must be one of "+opNames, "")
}

// decodeAs decodes one command, and checks it when it was decoded.
func decodeAs[T any](
	kind event.Kind, f field, decode func(value.Raw, string, *T) *api.Error, check func(*T) *api.Error,
) (_ event.Kind, command any, refusal, e *api.Error) {
	c := new(T)
	if e := decode(f.raw, f.path(), c); e != nil {
		return 0, nil, nil, e
	}
	return kind, c, check(c), nil
}

var opNames = func() string {
	names := make([]string, 0, len(api.Ops))
	for _, op := range api.Ops {
		names = append(names, string(op))
	}
	return strings.Join(names, ", ")
}()
