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
// without; a client waits longer for an answer. recordAgain is between two tries.
const (
	recordWait  = 2 * time.Second
	recordAgain = 100 * time.Millisecond
)

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
// whoever gives it once more, at its place in the log. Where that cannot be done for a
// while, and mayGo says so, it is carried out without; at kernel version 1 always.
func (s *Server) onRecord(ctx context.Context, o event.Order, mayGo bool) (on recorded, e *api.Error) {
	o.Detail = plainDetail(o.Detail)
	if mayGo { // that whoever asks is gone does not make it an order without record
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), recordWait)
		defer cancel()
	}
	on, e, final := s.record(ctx, &o)
	for mayGo && !final && s.comesYet(ctx, e) {
		on, e, final = s.record(ctx, &o)
	}
	switch {
	case final:
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

// record is one try; final is what stands, be it a refusal.
func (s *Server) record(ctx context.Context, o *event.Order) (on recorded, e *api.Error, final bool) {
	if on.by, e = s.mayCommand(ctx, event.OperatorOrder, o); e != nil {
		on.by = unverified
		return on, e, e.Code == string(failure.Unauthenticated) || e.Code == string(failure.Forbidden)
	}
	answer := s.node.Record(ctx, on.by, *o)
	if answer.Code == cluster.CodeVersionTooLow {
		if known, current := s.node.Known(); current && known != nil && known.Version() <= 1 {
			return on, nil, true
		}
		answer = cluster.Answer{Verdict: cluster.Refused, Code: cluster.CodeNoLeader, Detail: "a node has just started, and does not know yet which kernel version the cluster has: retry"}
	}
	done, e := s.settle(&answer)
	if e == nil {
		on.busSeq = done.BusSeq
	}
	return on, e, answer.Verdict == cluster.Applied
}

// comesYet waits before the next try, if what failed passes: an election, or a node that
// has just started.
func (s *Server) comesYet(ctx context.Context, e *api.Error) bool {
	switch e.Code {
	case cluster.CodeNoLeader, cluster.CodeNotLeader, cluster.CodeNotCaughtUp:
	default:
		return false
	}
	if known, _ := s.node.Known(); known == nil || !e.Definite { // one that has not started takes no part
		return false
	}
	select {
	case <-time.After(recordAgain):
		return true
	case <-ctx.Done():
		return false
	}
}

// carriesOut bounds what is done after an order was put on record, or was to go without:
// neither what that took nor that whoever asked is gone ends it.
func (s *Server) carriesOut(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), s.options.CommandTimeout)
}

// notOnRecord tells of an order that could not be put on record, and was not carried
// out therefore.
func notOnRecord(e *api.Error) *api.Error {
	if e.Code == cluster.CodeNotLeader || e.Code == cluster.CodeSafeMode {
		return e // it says itself what to do
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
