package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
)

// checkEvery is between how many agents a search looks whether it is still
// wanted.
const checkEvery = 4096

// holderOf finds the agent that an id means: its own, or its token's. A token's
// id is derived from its agent's (EV-10) and leads back by trying: one digest
// for each agent, for what operators do now and then.
func holderOf(ctx context.Context, v *cluster.View, id identity.ID) (no uint32, row *state.Row) {
	if no, row = v.Find(id); row != nil {
		return no, row
	}
	for no = 1; no <= v.Agents.Len(); no++ {
		row = v.Agents.Get(no)
		if row.Delegation.Token != 0 && flows.TokenID(row.Identity.ID) == id {
			return no, row
		}
		if no%checkEvery == 0 && ctx.Err() != nil {
			break
		}
	}
	return 0, nil
}

// resolveToken replaces the id of a token by that of the agent that holds it:
// commands name agents. An agent whose definition this node has not applied yet
// is looked for again in a state that is as fresh as can be; so every attempt at
// a command resolves alike, or not at all.
func (s *Server) resolveToken(ctx context.Context, text *string) *api.Error {
	id, ok := flows.ParseID(*text)
	if !ok {
		return badToken()
	}
	ctx, cancel := context.WithTimeout(ctx, s.options.ReadTimeout)
	defer cancel()
	var view cluster.View
	for _, level := range [...]cluster.Level{cluster.Stale, cluster.Linearizable} {
		var e *api.Error
		if view, e = s.read(ctx, cluster.Consistency{Level: level}); e != nil {
			return e
		}
		if _, row := holderOf(ctx, &view, id); row != nil {
			*text = flows.FormatID(row.Identity.ID)
			return nil
		}
	}
	if e := mayDo(ctx, &view, "agent.revoke", id, nil); e != nil {
		return e
	}
	return noToken()
}

// mayDo judges whoever asks about a token by the agent that holds it; where there is
// none, as about an agent that there is not.
func mayDo(ctx context.Context, v *cluster.View, action string, id identity.ID, holder *state.Row) *api.Error {
	if holder != nil {
		id = holder.Identity.ID
	}
	wanted := flows.Access{Action: action, Resource: flows.AgentResource(v.State, flows.FormatID(id))}
	_, refusal := askerIn(ctx).may(v.State, wanted)
	return orDoor(refusal)
}

func badToken() *api.Error {
	return invalid("token", "must be the UUID of a token, or of the agent that holds it", "see what there is with: omni token list")
}

func noToken() *api.Error {
	return refused(api.CodeNotFound, "token", "no token and no agent has this id", "see what there is with: omni token list")
}

// getToken serves GET …/tokens/{token}.
func (s *Server) getToken(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	id, ok := flows.ParseID(r.PathValue("token"))
	if !ok {
		return nil, badToken()
	}
	consistency := p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	no, row := holderOf(ctx, &view, id)
	e = mayDo(ctx, &view, "agent.read", id, row)
	switch {
	case ctx.Err() != nil:
		return nil, refused(api.CodeTimeout, "", "the token was not found in time", "ask with the id of its agent")
	case e != nil:
		return nil, e
	case row == nil || row.Delegation.Token == 0:
		e := noToken()
		e.Index = view.Index
		return nil, e
	}
	return &api.TokenAnswer{Token: token(&view, no, row), Grants: grantsOf(&view, row.Permissions.Grants), As: as(&view)}, nil
}

// listTokens serves GET …/tokens, in order of the agents' ids.
func (s *Server) listTokens(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, consistency := p.limit(), p.consistency()
	after, resumed := p.agent("after")
	inForce := p.truth("in_force")
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	page := &api.TokenPage{Tokens: []api.Token{}, As: as(&view)}
	looked := 0
	var last identity.ID
	view.Identity.From(after, func(id identity.ID, no uint32) bool {
		if resumed && id == after {
			return true
		}
		if len(page.Tokens) == limit || looked == maxLooked {
			page.Next = flows.FormatID(last)
			return false
		}
		looked++
		last = id
		if row := view.Agents.Get(no); row.Delegation.Token != 0 {
			if t := token(&view, no, row); !inForce || t.Revoked == "" && row.Lifecycle.State != lifecycle.Terminated {
				page.Tokens = append(page.Tokens, t)
			}
		}
		return true
	})
	return page, nil
}

func token(v *cluster.View, no uint32, row *state.Row) api.Token {
	d, id := &row.Delegation, row.Identity.ID
	t := api.Token{
		TokenID: flows.FormatID(flows.TokenID(id)), AgentID: flows.FormatID(id), Name: row.Identity.Name,
		State: row.Lifecycle.State.String(), Depth: d.Depth, Expires: d.Expires, IssuedSeq: d.Token, Void: void(v, no),
	}
	if above := v.Agents.Get(d.Parent); above != nil {
		t.ParentID, t.ParentToken = flows.FormatID(above.Identity.ID), flows.FormatID(flows.TokenID(above.Identity.ID))
	}
	return t
}

// void says why an agent's token is not in force; it is empty while it is, and
// for an agent that was not spawned.
func void(v *cluster.View, no uint32) api.Void {
	inForce, code, holder := delegation.InForce(rowsOf(v), no, v.Clock)
	if inForce || v.Agents.Get(no).Delegation.Token == 0 {
		return api.Void{}
	}
	return api.Void{Revoked: string(code), RevokedBy: idOf(v, holder)}
}

func rowsOf(v *cluster.View) delegation.Rows {
	return func(no uint32) *delegation.Row {
		row := v.Agents.Get(no)
		if row == nil {
			return nil
		}
		return &row.Delegation
	}
}

// grantsOf reads an interned list of grants; empty when there is none.
func grantsOf(v *cluster.View, no uint32) []permissions.Grant {
	if body := v.Interned.Body(no); body != nil {
		if list, ok := event.DecodeBody[[]permissions.Grant](body); ok {
			return *list
		}
	}
	return []permissions.Grant{}
}
