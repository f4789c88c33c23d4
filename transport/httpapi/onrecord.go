package httpapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/transport/api"
)

// recordWait is how long an order waits to be on record that can be carried out
// without.
const recordWait = 5 * time.Second

// unverified is who gave an order of whom nobody can tell who it is. No principal has
// such a name.
const unverified = "local:unverified"

// recorded is an order that may be carried out.
type recorded struct {
	by      string // the principal of whoever gave it
	busSeq  uint64 // where it is in the execution log; 0: it is not there
	without string // why it is not, or may not be, and is carried out all the same
}

// onRecord has an order committed before it is carried out (AU-10): the kernel judges
// whoever gives it once more, at its place in the log. Where that cannot be done, and
// mayGo says so, it is carried out without; at kernel version 1 always.
func (s *Server) onRecord(ctx context.Context, o event.Order, mayGo bool) (on recorded, e *api.Error) {
	if mayGo {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, recordWait)
		defer cancel()
	}
	o.Detail = plainDetail(o.Detail)
	if on.by, e = s.mayCommand(ctx, event.OperatorOrder, &o); e != nil {
		on.by = unverified
		if !mayGo || e.Code == string(failure.Unauthenticated) || e.Code == string(failure.Forbidden) {
			return on, e
		}
		on.without = e.Message
		return on, nil
	}
	answer := s.node.Record(ctx, on.by, o)
	done, e := s.settle(&answer)
	switch {
	case e == nil:
		on.busSeq = done.BusSeq
		return on, nil
	case answer.Code == cluster.CodeVersionTooLow:
		return on, nil
	case answer.Verdict == cluster.Applied:
		return on, e
	case !mayGo:
		return on, notOnRecord(e)
	}
	on.without = e.Message
	if known, current := s.node.Known(); known == nil || !current && !known.Principals.On() {
		on.by = unverified
	}
	return on, nil
}

// notOnRecord tells of an order that could not be put on record, and was not carried
// out therefore.
func notOnRecord(e *api.Error) *api.Error {
	if e.Code == cluster.CodeNotLeader {
		return e
	}
	if !e.Definite {
		e.Definite, e.Status = true, http.StatusServiceUnavailable
	}
	e.Message = "nothing was done, for it could not be put on record: " + e.Message
	e.Hint = "see how the cluster is with: omni cluster status; a node of a cluster that can commit nothing takes orders about itself on its own machine"
	return e
}

// mayGoWithout says whether an order about this node may be carried out that cannot be
// put on record: by whoever is on its machine, by everybody where nobody is judged, and
// where the node itself is what stops the cluster.
func (s *Server) mayGoWithout(r *http.Request, resumes bool) bool {
	if local(r.RemoteAddr) {
		return true
	}
	known, current := s.node.Known()
	if current && known != nil && !known.Principals.On() {
		return true
	}
	leader, leads := s.node.Leader()
	return resumes && leads && leader.ID == s.node.ID()
}

// onRecordAtLeader is onRecord of what only the leader carries out.
func (s *Server) onRecordAtLeader(ctx context.Context, action, resource, detail string) (recorded, *api.Error) {
	if leader, known := s.node.Leader(); known && leader.ID != s.node.ID() {
		_, e := s.settle(&cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNotLeader, Leader: leader})
		return recorded{}, e
	}
	return s.onRecord(ctx, event.Order{Action: action, Resource: resource, Detail: detail}, false)
}

// orderOf is the order about a node by its name.
func orderOf(action, node, detail string) event.Order {
	return event.Order{Action: action, Resource: flows.Named(node), Detail: detail}
}

// plainDetail makes a text one that the log takes.
func plainDetail(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r == 0xfffd {
			return ' '
		}
		return r
	}, text)
	if len(text) > principals.MaxDescriptionBytes {
		text = strings.ToValidUTF8(text[:principals.MaxDescriptionBytes-len("…")], "") + "…"
	}
	return text
}
