package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/transport/api"
)

// read gives a view for a read that only asks; the context bounds the wait.
func (s *Server) read(ctx context.Context, c cluster.Consistency) (cluster.View, *api.Error) {
	view, err := s.node.Read(ctx, c)
	if err != nil {
		return view, s.readError(err)
	}
	if refusal := askerIn(ctx).still(view.State); refusal != nil { // as the state that answers knows it
		return view, atDoor(refusal)
	}
	return view, nil
}

// readError tells of a read that the node could not serve. It changed nothing,
// so whatever its code usually means, it is definite.
func (s *Server) readError(err error) *api.Error {
	var known *cluster.ReadError
	if !errors.As(err, &known) {
		return refused(api.CodeInternal, "", err.Error(), "")
	}
	info, _ := api.Lookup(known.Code)
	e := &api.Error{
		Code: known.Code, Definite: true, Message: known.Detail, Index: known.Applied,
		Leader: leaderOf(known.Leader), Status: info.Status,
	}
	if !info.Definite {
		e.Status = http.StatusServiceUnavailable
	}
	if e.Message == "" {
		e.Message = info.Text
	}
	return e
}

// logError tells of a read of the log that failed.
func (s *Server) logError(err error) *api.Error {
	var behind *segment.HistoryBehindError
	if errors.As(err, &behind) {
		e := refused(api.CodeHistoryBehind, "from", behind.Error(), "ask another node")
		e.First = behind.FirstSeq
		return e
	}
	var archived *segment.CompactedError
	if errors.As(err, &archived) {
		e := refused(api.CodeCompacted, "from", "it was archived, and its archive is not on this node",
			"ask a node that keeps the archive, put the archive's files back, or read from first on")
		e.First = archived.FirstSeq
		return e
	}
	s.log.Error("reading the execution log", "error", err)
	var damaged *segment.CorruptError
	if errors.As(err, &damaged) {
		// It was marked by whoever met it, and is fetched from another node.
		e := refused(api.CodeHistoryBehind, "from", "a part of the log is damaged on this node", "ask another node, or this one again when it has fetched it")
		e.First = s.node.Log().SeqAfter(damaged.Position)
		return e
	}
	return refused(api.CodeInternal, "", "the execution log cannot be read here", "ask another node")
}

// as is what every answer to a read carries (CL-4).
func as(v *cluster.View) api.As {
	return api.As{Index: v.Index, Node: v.Node, LagMillis: v.Lag.Milliseconds()}
}

// reading is a handler of a read: what it answers with, or why not.
type reading func(ctx context.Context, r *http.Request, p *params) (any, *api.Error)

// reads serves a read.
func (s *Server) reads(rt *route, handle reading) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		ctx, cancel := s.within(r, s.options.ReadTimeout)
		defer cancel()
		if p.broken != nil {
			s.fail(w, p.broken)
			return
		}
		answer, e := handle(ctx, r, p)
		if e != nil {
			s.fail(w, e)
			return
		}
		writeJSON(w, http.StatusOK, answer)
	}
}
