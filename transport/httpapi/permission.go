package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
)

// explain serves GET …/agents/{id}/permission: what the kernel would answer if
// the agent asked now, level by level upwards, with the grants that speak of it.
func (s *Server) explain(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	action, resource := p.request()
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	x := &api.Explanation{
		AgentID: flows.FormatID(row.Identity.ID), Action: action, Resource: resource, Void: void(&view, no), As: as(&view),
	}
	strictest, decides := permissions.Level{}, 0
	asked := resource
	for at := no; at != 0; at = view.Agents.Get(at).Delegation.Parent {
		if at != no {
			asked = permissions.Upwards(action, asked)
		}
		level, verdict := judge(&view, at, action, asked)
		x.Levels = append(x.Levels, level)
		this := permissions.Level{Agent: at, Verdict: verdict}
		if at == no {
			strictest = this
		} else if strictest = permissions.Strictest(strictest, this); strictest.Agent == at {
			decides = len(x.Levels) - 1
		}
	}
	x.Levels[decides].Decides = true
	x.Verdict = strictest.Verdict.Effect.String()
	x.Reason = reason(&x.Levels[decides], decides)
	switch {
	case x.Revoked != "":
		x.Verdict = permissions.Deny.String()
		x.Reason = "the token of agent " + x.RevokedBy + ", on which this rests, is not in force: " + x.Revoked
	case row.Delegation.Token == 0:
		x.Reason = "the agent was not spawned: it has no token, and none of its grants is in force"
	}
	return x, nil
}

// request reads what is asked for: an action and a resource, each one thing and
// no pattern.
func (p *params) request() (action, resource string) {
	action, resource = p.values.Get("action"), p.values.Get("resource")
	for _, name := range [...]string{"action", "resource"} {
		if text := p.values.Get(name); text == "" || strings.Contains(text, "*") {
			p.fail(name, "must name one thing, without *", "for example action=tool.call and resource=http.request/GET/api.example.com/v1")
		}
	}
	_, refusal := permissions.Compile([]permissions.Grant{{Effect: permissions.Allow, Action: action, Resource: resource}})
	if refusal != nil {
		p.fail(strings.TrimPrefix(refusal.Field, "grants[0]."), refusal.Rule, "")
	}
	return action, resource
}

// judge puts the request to one agent's grants.
func judge(v *cluster.View, no uint32, action, resource string) (api.PermissionLevel, permissions.Verdict) {
	row := v.Agents.Get(no)
	grants := grantsOf(v, row.Permissions.Grants)
	set, _ := permissions.Compile(grants) // the kernel took them: they compile
	considered, verdict := set.Explain(action, resource, v.Clock)
	level := api.PermissionLevel{
		AgentID: flows.FormatID(row.Identity.ID), Name: row.Identity.Name, Resource: resource,
		Verdict: verdict.Effect.String(), Grant: verdict.Grant, Considered: []api.ConsideredGrant{},
	}
	for _, c := range considered {
		level.Considered = append(level.Considered, api.ConsideredGrant{
			Position: uint32(c.Grant), Grant: grants[c.Grant], Matched: c.Matched, Expired: c.Expired,
		})
	}
	return level, verdict
}

// reason says in a sentence why a level decides as it does.
func reason(level *api.PermissionLevel, above int) string {
	whose := "the agent's own grants"
	if above > 0 {
		whose = "the grants of agent " + level.AgentID + ", " + strconv.Itoa(above) + " above it,"
	}
	if level.Grant >= 0 {
		for i := range level.Considered {
			if c := &level.Considered[i]; int32(c.Position) == level.Grant {
				return "grant " + strconv.Itoa(int(level.Grant)) + " of " + strings.TrimSuffix(whose, ",") + " decides: " +
					c.Effect.String() + " " + c.Action + " on " + c.Resource
			}
		}
	}
	switch {
	case len(level.Considered) == 0:
		return "none of " + whose + " speaks of this action, and what no grant allows is denied"
	case expired(level.Considered):
		return "those of " + whose + " that match are not in force any more, and what no grant allows is denied"
	}
	return "none of " + whose + " matches this resource, and what no grant allows is denied"
}

// expired tells whether a grant would have matched in its time.
func expired(considered []api.ConsideredGrant) bool {
	for i := range considered {
		if considered[i].Matched && considered[i].Expired {
			return true
		}
	}
	return false
}
