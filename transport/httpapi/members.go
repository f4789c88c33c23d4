package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
)

// memberRoutes tell and change who the members are.
func (s *Server) memberRoutes() []*route {
	post := func(path, id, change, summary, about string) *route {
		return &route{
			method: http.MethodPost, path: "/v1/cluster/members" + path, id: id, tag: "cluster", summary: summary, about: about,
			body: typeOf[api.RemoveMemberBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.MemberChanged](), handle: s.changeMember(change),
		}
	}
	add := post("", "add-member", cluster.MemberAdd, "Take in a node that waits for it",
		"It becomes a learner, and a voter by itself when it has caught up and has all history. Only the leader can.")
	add.body, add.noBody = typeOf[api.AddMemberBody](), false
	promote := post("/{node}/promote", "promote-member", cluster.MemberPromote, "Make a learner a voter",
		"One that has not caught up is refused, and becomes a voter by itself when it has.")
	promote.body = nil
	return []*route{
		s.reader(&route{
			path: "/v1/cluster/members", id: "list-members", tag: "cluster", summary: "The members, and how each of them is",
			query: []parameter{}, answer: typeOf[api.Members](),
		}, s.getMembers),
		add, promote,
		post("/{node}/demote", "demote-member", cluster.MemberDemote, "Make a voter a learner, until it is promoted again",
			"The leader hands leadership over first, when it is about itself."),
		post("/{node}/remove", "remove-member", cluster.MemberRemove, "Remove a node for ever",
			"It stops, and its id and its data do not come back. The leader hands leadership over first, when it is about itself."),
	}
}

// getMembers serves GET /v1/cluster/members.
func (s *Server) getMembers(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	if e := p.check(); e != nil {
		return nil, e
	}
	from, err := s.node.Members(ctx)
	if err != nil {
		return nil, s.memberError(err)
	}
	to := &api.Members{
		ClusterID: from.ClusterID, KernelID: from.KernelID, Leader: from.Leader, Voters: from.Voters, Answering: from.Answering,
		Spare: max(0, from.Answering-(from.Voters/2+1)), Members: make([]api.Member, 0, len(from.Members)),
	}
	for _, m := range from.Members {
		to.Members = append(to.Members, api.Member{
			ID: m.ID, Raft: m.Raft, API: m.API, Role: string(m.Role), Voter: m.Voter, Learner: m.Learner, Behind: m.Behind,
			MissingBytes: m.Missing, Healthy: m.Healthy, Reason: m.Reason, Version: m.Version,
		})
	}
	return to, nil
}

func (s *Server) changeMember(change string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, done, e := s.readBody(w, r, api.MaxBodyBytes)
		defer done()
		c := cluster.MemberChange{Change: change, ID: r.PathValue("node")}
		if e == nil {
			e = eachField(body, "", func(f field) *api.Error { return memberField(f, &c) })
		}
		if e != nil {
			s.fail(w, e)
			return
		}
		ctx, cancel := s.within(r, s.options.CommandTimeout)
		defer cancel()
		order := event.Order{Action: "cluster.member." + change, Resource: flows.Named(c.ID), Detail: detailOf(&c)}
		if e := s.mayChange(ctx, c, order); e != nil {
			s.fail(w, e)
			return
		}
		on, e := s.onRecordAtLeader(ctx, order.Action, order.Resource, order.Detail)
		if e != nil {
			s.fail(w, e)
			return
		}
		does, cancel := s.carriesOut(r)
		defer cancel()
		came, err := s.node.ChangeMember(does, c)
		if err != nil {
			s.fail(w, s.memberError(err))
			return
		}
		writeJSON(w, http.StatusOK, api.MemberChanged{Node: c.ID, Change: change, Changed: came.Changed, Voters: came.Voters, BusSeq: on.busSeq})
	}
}

// mayChange says why a change would be refused, before it is put on record: what asks
// again and again must not fill the log. Whoever may not ask is told nothing else.
func (s *Server) mayChange(ctx context.Context, c cluster.MemberChange, o event.Order) *api.Error {
	if leader, known := s.node.Leader(); !known || leader.ID != s.node.ID() {
		return nil // onRecordAtLeader says so
	}
	o.Detail = plainDetail(o.Detail)
	if _, e := s.mayCommand(ctx, event.OperatorOrder, &o); e != nil {
		return e
	}
	c.DryRun = true
	if _, err := s.node.ChangeMember(ctx, c); err != nil {
		return s.memberError(err)
	}
	return nil
}

// detailOf says what is asked beside whose change it is.
func detailOf(c *cluster.MemberChange) (detail string) {
	if c.Change == cluster.MemberAdd {
		detail = "at " + c.Raft
	}
	if c.Learner {
		detail += ", to stay a learner"
	}
	if c.Force {
		detail += "forced"
	}
	return detail
}

func memberField(f field, c *cluster.MemberChange) *api.Error {
	known := ""
	switch c.Change {
	case cluster.MemberAdd:
		known = "id, raft, api, learner"
		switch f.key {
		case "id":
			return f.text(&c.ID)
		case "raft":
			return f.text(&c.Raft)
		case "api":
			return f.text(&c.API)
		case "learner":
			return f.flag(&c.Learner)
		}
	case cluster.MemberRemove, cluster.MemberDemote:
		known = "force"
		if f.key == "force" {
			return f.flag(&c.Force)
		}
	}
	return f.unknown(known)
}

// memberError tells why the members are as they were, or that nobody knows.
func (s *Server) memberError(err error) *api.Error {
	var no *cluster.MemberRefusal
	if errors.As(err, &no) {
		return refused(no.Code, no.Field, no.Rule, no.Hint)
	}
	var group *consensus.Refusal
	if errors.As(err, &group) {
		e := s.groupError(group)
		if group.Code == consensus.NotCaughtUp {
			e.Hint = "it becomes a voter by itself when it has caught up: see omni cluster list"
		}
		if !e.Definite {
			e.Hint = "see what came of it with: omni cluster list"
		}
		return e
	}
	e := refused(api.CodeTimeout, "", err.Error(), "see what came of it with: omni cluster list")
	e.Definite = false
	return e
}
