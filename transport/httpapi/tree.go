package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
)

// getTree serves GET …/agents/{id}/tree: the agent and everything below it,
// depth first, parents before children. A page goes on after any agent of the
// tree, since where a walk stands is the agent that it visited last.
func (s *Server) getTree(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	limit := p.limit()
	after, resumed := p.agent("after")
	view, root, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	rows := rowsOf(&view)
	last := root
	page := &api.TreePage{AgentID: flows.FormatID(row.Identity.ID), Agents: []api.TreeAgent{}, As: as(&view)}
	add := func(no uint32) {
		at := view.Agents.Get(no)
		page.Agents = append(page.Agents, api.TreeAgent{
			AgentID: flows.FormatID(at.Identity.ID), ParentID: idOf(&view, at.Delegation.Parent), Level: levelBelow(rows, root, no),
			Name: at.Identity.Name, State: at.Lifecycle.State.String(), Fault: string(at.Lifecycle.Code), Void: void(&view, no),
		})
	}
	if resumed {
		no, found := view.Find(after)
		if found == nil || !delegation.IsAncestor(rows, root, no) {
			return nil, invalid("after", "must be an agent of this tree", "")
		}
		last = no
	} else {
		add(root)
	}
	for ctx.Err() == nil {
		no := nextBelow(rows, root, last)
		if no == 0 {
			return page, nil
		}
		if len(page.Agents) == limit {
			page.Next = page.Agents[limit-1].AgentID
			return page, nil
		}
		add(no)
		last = no
	}
	return nil, refused(api.CodeTimeout, "", "the tree was not read in time", "ask for fewer agents with limit")
}

// nextBelow is the agent after last of a walk below root, depth first; 0 at the
// end.
func nextBelow(rows delegation.Rows, root, last uint32) uint32 {
	if first := rows(last).FirstChild; first != 0 {
		return first
	}
	for last != root {
		row := rows(last)
		if row.NextSibling != 0 {
			return row.NextSibling
		}
		last = row.Parent
	}
	return 0
}

// levelBelow counts the steps from an agent up to one above it.
func levelBelow(rows delegation.Rows, above, no uint32) (level uint32) {
	for ; no != above && no != 0; level++ {
		no = rows(no).Parent
	}
	return level
}
