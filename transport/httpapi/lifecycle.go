package httpapi

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/transport/api"
)

// nodeRoutes are about the asked node alone, whatever the cluster does.
func (s *Server) nodeRoutes() []*route {
	return []*route{
		s.reader(&route{
			path: "/v1/node", id: "node-state", tag: "node", summary: "Where the node stands in its lifecycle",
			about: "Its state and why, its components, and what happened before it started.", answer: typeOf[api.NodeState](),
		}, s.getNode),
		s.reader(&route{
			path: "/v1/node/journal", id: "node-journal", tag: "node", summary: "What is on record of the node's lifecycle",
			about: "Transitions, refused ones, and what became of components, over restarts, oldest first: the newest ones when there are more than limit.",
			query: []parameter{{name: "after", about: "only entries after this seq", schema: "integer"}, limitParam}, answer: typeOf[api.NodeJournal](),
		}, s.getNodeJournal),
	}
}

func (s *Server) getNode(context.Context, *http.Request, *params) (any, *api.Error) {
	state := nodeState(s.node.ID(), s.node.Lifecycle(), time.Now())
	state.UnderWay = api.UnderWay(s.node.UnderWay())
	state.TLS = s.nodeTLS()
	if err := s.node.Healthy(); err != nil {
		state.Reason = err.Error()
	} else {
		state.Healthy = true
	}
	return state, nil
}

func (s *Server) nodeTLS() *api.NodeTLS {
	if s.options.Certificates == nil {
		return nil
	}
	from := s.options.Certificates()
	to := &api.NodeTLS{Since: from.Since, Refused: from.Refused, Certificates: make([]api.NodeCertificate, 0, len(from.Certificates))}
	for _, c := range from.Certificates {
		to.Certificates = append(to.Certificates, api.NodeCertificate(c))
	}
	return to
}

func nodeState(id string, from nodestate.Snapshot, now time.Time) *api.NodeState {
	to := &api.NodeState{
		Node: id, State: string(from.State), Since: from.Since, Trigger: string(from.Trigger), By: from.By, Cause: from.Cause,
		Intake: "open", Attempt: from.Attempt, RetryInMillis: from.RetryIn.Milliseconds(), Boot: from.Boot, Seq: from.Seq,
		Suspension: (*api.Suspension)(from.Suspension), Components: make([]api.NodeComponent, 0, len(from.Components)),
	}
	if from.State.Closed() {
		to.Intake = "closed"
	}
	if from.Unkept != nil {
		to.JournalError = from.Unkept.Error()
	}
	for _, c := range from.Components {
		one := api.NodeComponent{
			Name: c.Name, Required: c.Required, Status: string(c.Status), LastOK: c.LastOK,
			LastError: c.LastError, LastErrorAt: c.LastErrorAt, RestartCount: c.Restarts,
		}
		if c.Status == nodestate.StatusBackoff {
			one.RetryInMillis = max(0, c.RetryAt.Sub(now).Milliseconds())
		}
		to.Components = append(to.Components, one)
	}
	if b := from.Before; b != nil {
		to.Before = &api.NodeBefore{
			Boot: b.Boot, State: string(b.State), Clean: b.Clean(), Since: b.Since, Trigger: string(b.Trigger), By: b.By, Cause: b.Cause,
		}
	}
	return to
}

func (s *Server) getNodeJournal(_ context.Context, _ *http.Request, p *params) (any, *api.Error) {
	after, limit := p.number("after", 0, math.MaxUint64), p.limit()
	if e := p.check(); e != nil {
		return nil, e
	}
	found, err := s.node.Journal(after, limit)
	if err != nil {
		return nil, refused(api.CodeInternal, "", err.Error(), "look at the files in the node's data directory")
	}
	return NodeJournal(s.node.ID(), found), nil
}

// NodeJournal gives what was found in a journal the form of an answer; id may be
// empty, where it is not known.
func NodeJournal(id string, from nodejournal.Found) *api.NodeJournal {
	to := &api.NodeJournal{Node: id, Entries: make([]api.JournalEntry, 0, len(from.Entries))}
	for _, e := range from.Entries {
		to.Entries = append(to.Entries, api.JournalEntry{
			Seq: e.Seq, Boot: e.Boot, Time: e.Time, Kind: string(e.Kind), From: string(e.From), To: string(e.To),
			Trigger: string(e.Trigger), By: e.By, Cause: e.Cause, Rule: e.Rule, Attempt: e.Attempt,
			Component: e.Component, Status: string(e.Status), Restarts: e.Restarts, Hold: string(e.Hold), Principal: e.Principal, BusSeq: e.BusSeq,
		})
	}
	for _, d := range from.Damage {
		to.Damage = append(to.Damage, api.JournalSpot(d))
	}
	return to
}
