package httpapi

import (
	"context"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/audit"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/recovery"
	"github.com/omnikernel/omnikernel/transport/api"
)

// getFaults serves GET …/agents/{id}/faults: what went wrong with an agent and
// what was done about it, read back from the log.
func (s *Server) getFaults(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	from, limit := p.number("from", 1, math.MaxUint64), p.limit()
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil {
		return nil, e
	}
	page := &api.FaultPage{
		AgentID: flows.FormatID(row.Identity.ID), State: row.Lifecycle.State.String(), Faults: []api.Fault{}, As: as(&view),
	}
	from = max(from, row.Identity.Seq)
	err := s.node.Log().AgentHistory(no, row.LastBlock, from, func(_ uint64, b *logging.Block) bool {
		for records := b.Records(); records.Next(); {
			record := &records.Record
			if record.Agent != no || record.Seq < from {
				continue
			}
			f, ok := fault(b, record)
			if !ok {
				continue
			}
			if len(page.Faults) == limit {
				page.Next = record.Seq
				return false
			}
			page.Faults = append(page.Faults, f)
		}
		return ctx.Err() == nil
	})
	switch {
	case err != nil:
		return nil, s.logError(err)
	case ctx.Err() != nil && page.Next == 0:
		return nil, refused(api.CodeTimeout, "", "the faults were not read in time", "ask for fewer rows with limit")
	}
	return page, nil
}

// fault describes a record, if it tells of one.
func fault(b *logging.Block, r *logging.Record) (api.Fault, bool) {
	f := api.Fault{
		BusSeq: r.Seq, Index: b.Index, AtMillis: b.ClockMillis, Kind: kernel.KindName(bus.Kind(r.Kind)), Tick: r.Tick,
	}
	ok := false
	switch bus.Kind(r.Kind) {
	case bus.TickFailed:
		var body *execution.FailedBody
		if body, ok = execution.DecodeFailed(r.Body); ok {
			failed := &body.Failure
			f.Code, f.Class, f.Message = string(failed.Code), failed.Class().String(), failed.Message
			f.Instruction, f.Line, f.Column = failed.Node, failed.Line, failed.Column
		}
	case bus.Lifecycle:
		var body *lifecycle.Event
		if body, ok = lifecycle.DecodeEvent(r.Body); ok {
			f.From, f.Code, f.Class, f.Reason = body.From.String(), string(body.Code), body.Class.String(), body.Reason
			ok = body.To == lifecycle.Faulted
		}
	case bus.RetryScheduled:
		var body *recovery.Scheduled
		if body, ok = recovery.DecodeScheduled(r.Body); ok {
			f.Retry, f.Backoff = body.Retry, body.Millis
		}
	case bus.FaultReclassified:
		var body *lifecycle.Reclassified
		if body, ok = lifecycle.DecodeReclassified(r.Body); ok {
			f.Class, f.Reason = failure.Transient.String(), body.Reason
		}
	case bus.TeardownFailed:
		ok = true
	case bus.Audit:
		var body *audit.Body
		if body, ok = audit.Decode(r.Body); ok {
			f.Code, f.Class = string(failure.InvariantBroken), failure.InvariantBreach.String()
			f.Message = body.Invariant + ": " + body.Rule
		}
	}
	return f, ok
}

// getAudit serves GET …/audit: the newest breaches of invariants, oldest first.
func (s *Server) getAudit(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, consistency := p.limit(), p.consistency()
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	page := &api.AuditPage{Count: view.Audit.Count, Entries: []api.AuditEntry{}, As: as(&view)}
	view.Audit.All(func(a *audit.Entry) bool {
		page.Entries = append(page.Entries, api.AuditEntry{
			BusSeq: a.Seq, Index: a.Index, AtMillis: a.At, AgentID: idOf(&view, a.Agent), RootID: idOf(&view, a.Root),
			Tick: a.Tick, Invariant: a.Invariant, Kind: kernel.KindName(bus.Kind(a.Kind)), Rule: a.Rule,
		})
		return true
	})
	if over := len(page.Entries) - limit; over > 0 {
		page.Entries = page.Entries[over:]
	}
	return page, nil
}
