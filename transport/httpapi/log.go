package httpapi

import (
	"context"
	"math"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/recordjson"
)

// maxPageBytes bounds what the records of one page take.
const maxPageBytes = 4 << 20

// getLog serves GET …/log. A page ends with the log as of the state that the
// read's consistency gave, so nothing in it is ahead of what a read of an agent
// at the same index would show.
func (s *Server) getLog(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	from, limit, consistency := max(p.number("from", 1, math.MaxUint64), 1), p.limit(), p.consistency()
	of := p.subject()
	want := &recordjson.Select{From: from, Notes: p.truth("notes")}
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	take := &taking{limit: limit, page: &api.LogPage{
		Records: []api.Record{}, Next: max(from, view.Log.NextSeq), As: as(&view),
	}}
	if e := s.readLog(ctx, &view, want, of, take); e != nil {
		return nil, e
	}
	return take.page, nil
}

// taking fills a page.
type taking struct {
	page  *api.LogPage
	limit int
	bytes int
}

// record takes one, or says where the next page begins.
func (t *taking) record(r *api.Record) bool {
	if len(t.page.Records) == t.limit || t.bytes > maxPageBytes {
		t.page.Next = r.BusSeq
		return false
	}
	t.page.Records = append(t.page.Records, *r)
	t.bytes += len(r.Body)
	return true
}

// readLog visits the records that are wanted, up to the end of the view's log, of
// one agent, of one run, or of all.
func (s *Server) readLog(ctx context.Context, v *cluster.View, want *recordjson.Select, of subject, take *taking) *api.Error {
	place, e := s.find(of, v, want)
	if e != nil {
		return e
	}
	take.page.Ledger = place.ledger
	from := want.From
	if from >= v.Log.NextSeq {
		return nil
	}
	var failed error
	full := false
	visit := func(_ uint64, b *logging.Block) bool {
		if b.FirstSeq >= v.Log.NextSeq {
			return false
		}
		failed = s.renderer.Block(v.State, b, want, func(r *api.Record) bool {
			full = !take.record(r)
			return !full
		})
		return failed == nil && !full && ctx.Err() == nil
	}
	var err error
	if of.given {
		err = s.node.Log().AgentHistory(place.subject, place.last, max(from, place.first), visit)
	} else {
		_, err = s.node.Log().ReadFrom(from, visit)
	}
	switch {
	case err != nil:
		return s.logError(err)
	case failed != nil:
		return s.logError(failed)
	case ctx.Err() != nil && !full:
		return refused(api.CodeTimeout, "", "the log was not read in time", "ask for fewer records with limit")
	}
	return nil
}
