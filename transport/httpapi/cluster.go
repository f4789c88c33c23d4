package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
)

// getStatus serves GET /v1/cluster/status.
func (s *Server) getStatus(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	alone := p.truth("alone")
	if e := p.check(); e != nil {
		return nil, e
	}
	return status(s.node.Status(ctx, alone)), nil
}

// status copies the node's account into the API's type. Their JSON is the same;
// a test holds them together.
func status(from cluster.Status) *api.Status {
	to := &api.Status{
		ClusterID: from.ClusterID, KernelID: from.KernelID, Leader: from.Leader, Term: from.Term,
		Nodes: make([]api.NodeStatus, 0, len(from.Nodes)), Stopped: (*api.Stop)(from.Stopped),
		KernelVersion: from.KernelVersion,
	}
	for _, u := range from.Near {
		to.NearLimits = append(to.NearLimits, api.Limit(u))
	}
	for _, n := range from.Nodes {
		to.Nodes = append(to.Nodes, api.NodeStatus{
			ID: n.ID, API: n.API, Raft: n.Raft, Role: string(n.Role), Term: n.Term,
			AppliedIndex: n.AppliedIndex, CommitIndex: n.CommitIndex, BusSeq: n.BusSeq, Digest: n.Digest,
			LagMillis: n.LagMillis, Agents: n.Agents, Healthy: n.Healthy, Reason: n.Reason,
			UptimeMillis: n.UptimeMillis, Version: n.Version, SafeMode: (*api.SafeMode)(n.SafeMode),
			HistoryFrom: n.HistoryFrom, Backfill: (*api.Backfill)(n.Backfill), Backups: (*api.Backups)(n.Backups),
			Stopped: (*api.Stop)(n.Stopped), State: string(n.State), KernelVersion: n.KernelVersion, KnowsVersion: n.KnowsVersion,
		})
	}
	return to
}

// transfer serves POST /v1/cluster/transfer.
func (s *Server) transfer(w http.ResponseWriter, r *http.Request) {
	body, done, e := s.readBody(w, r, api.MaxBodyBytes)
	defer done()
	var to string
	if e == nil {
		e = eachField(body, "", func(f field) *api.Error {
			if f.key != "to" {
				return f.unknown("to")
			}
			return f.text(&to)
		})
	}
	if e != nil {
		s.fail(w, e)
		return
	}
	ctx, cancel := s.within(r, s.options.CommandTimeout)
	defer cancel()
	leader, known := s.node.Leader()
	var on recorded
	if !known || to == "" || to != leader.ID { // whoever leads need not be asked to
		detail := ""
		if to != "" {
			detail = "to " + to
		}
		if on, e = s.onRecordAtLeader(ctx, "cluster.transfer", flows.Nothing, detail); e != nil {
			s.fail(w, e)
			return
		}
		does, cancel := s.carriesOut(r)
		defer cancel()
		if err := s.node.Transfer(does, to); err != nil {
			s.fail(w, s.transferError(does, to, err))
			return
		}
		leader, _ = s.node.Leader()
	}
	writeJSON(w, http.StatusOK, api.Transferred{Leader: leader.ID, Node: s.node.ID(), BusSeq: on.busSeq})
}

// transferError tells of a transfer that did not come about, or may yet.
func (s *Server) transferError(ctx context.Context, to string, err error) *api.Error {
	var refusal *consensus.Refusal
	if !errors.As(err, &refusal) {
		e := refused(api.CodeTimeout, "", err.Error(), "see who leads with: omni cluster status")
		e.Definite = false
		return e
	}
	if refusal.Code == consensus.Unreachable {
		if ids := nodeIDs(s.node.Status(ctx, false)); !slices.Contains(ids, to) {
			return invalid("to", "must be the id of a node", "the nodes are: "+strings.Join(ids, ", "))
		}
	}
	return s.groupError(refusal)
}

// groupError tells of what the Raft group refused.
func (s *Server) groupError(refusal *consensus.Refusal) *api.Error {
	info, _ := api.Lookup(string(refusal.Code))
	e := &api.Error{Code: info.Code, Definite: info.Definite, Message: refusal.Detail, Status: info.Status}
	if e.Message == "" {
		e.Message = info.Text
	}
	if leader, known := s.node.Leader(); known && refusal.Code == consensus.NotLeader {
		e.Leader = leaderOf(leader)
	}
	return e
}

func nodeIDs(status cluster.Status) []string {
	ids := make([]string, 0, len(status.Nodes))
	for i := range status.Nodes {
		ids = append(ids, status.Nodes[i].ID)
	}
	return ids
}

// healthz tells whether the process can do its part at all.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	if err := s.node.Healthy(); err != nil {
		s.unwell(w, "unhealthy", err)
		return
	}
	health := s.health("ok")
	health.Backups = (*api.Backups)(s.node.Backups())
	writeJSON(w, http.StatusOK, health)
}

// health says where the node stands in its lifecycle, which is apart from how it is.
func (s *Server) health(status string) api.Health {
	stands := s.node.Lifecycle()
	health := api.Health{Status: status, Node: s.node.ID(), State: string(stands.State), Cause: stands.Cause}
	if stands.Unkept != nil {
		health.JournalError = stands.Unkept.Error()
	}
	return health
}

// unwell says why the node should not be asked, and what holds it in safe mode
// when something does (EV-14).
func (s *Server) unwell(w http.ResponseWriter, status string, why error) {
	health := s.health(status)
	health.Reason = why.Error()
	var held *cluster.SafeMode
	if errors.As(why, &held) {
		health.SafeMode = (*api.SafeMode)(held)
	}
	writeJSON(w, http.StatusServiceUnavailable, health)
}

var errNoLeader = errors.New("no leader is known")

// readyz tells whether the node is worth asking: healthy, caught up since its
// start, and aware of a leader.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	notReady := func(why error) { s.unwell(w, "not_ready", why) }
	if err := s.node.Healthy(); err != nil {
		notReady(err)
		return
	}
	ctx, cancel := s.within(r, s.options.ReadTimeout)
	defer cancel()
	view, err := s.node.Read(ctx, cluster.Consistency{Level: cluster.Stale})
	if err != nil {
		notReady(err)
		return
	}
	if _, ok := s.node.Leader(); !ok {
		notReady(errNoLeader)
		return
	}
	health := s.health("ok")
	health.Stopped = (*api.Stop)(cluster.StopOf(view.State))
	writeJSON(w, http.StatusOK, health)
}
