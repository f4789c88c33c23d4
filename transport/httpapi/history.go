package httpapi

import (
	"context"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
)

// getHistory serves GET …/agents/{id}/history: every transition, read back from
// the log, since the state keeps the last four only (LC-8).
func (s *Server) getHistory(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	from, limit := p.number("from", 1, math.MaxUint64), p.limit()
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	page := &api.HistoryPage{
		AgentID: r.PathValue("id"), State: row.Lifecycle.State.String(),
		Transitions: []api.Transition{}, As: as(&view),
	}
	// Nothing of the agent is older than its definition: so a node without the
	// log's beginning still has the whole history of a younger agent.
	from = max(from, row.Identity.Seq)
	err := s.node.Log().AgentHistory(no, row.LastBlock, from, func(_ uint64, b *logging.Block) bool {
		for records := b.Records(); records.Next(); {
			record := &records.Record
			if record.Agent != no || record.Seq < from || bus.Kind(record.Kind) != bus.Lifecycle {
				continue
			}
			if len(page.Transitions) == limit {
				page.Next = record.Seq
				return false
			}
			if t, ok := transition(b, record); ok {
				page.Transitions = append(page.Transitions, t)
			}
		}
		return ctx.Err() == nil
	})
	switch {
	case err != nil:
		return nil, s.logError(err)
	case ctx.Err() != nil:
		return nil, refused(api.CodeTimeout, "", "the history was not read in time", "ask for fewer rows with limit")
	}
	return page, nil
}

func transition(b *logging.Block, r *logging.Record) (api.Transition, bool) {
	e, ok := lifecycle.DecodeEvent(r.Body)
	if !ok {
		return api.Transition{}, false
	}
	return api.Transition{
		From: e.From.String(), To: e.To.String(), Trigger: e.Trigger.String(), Caller: e.Caller.String(),
		Reason: e.Reason, Code: string(e.Code), Class: e.Class.String(), Tick: r.Tick,
		BusSeq: r.Seq, Index: b.Index, AtMillis: b.ClockMillis,
	}, true
}
