package httpapi

import (
	"errors"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/consensus"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/transport/api"
)

// orderRoutes change the asked node's lifecycle.
func (s *Server) orderRoutes() []*route {
	post := func(name, summary, about string, trigger nodestate.Trigger) *route {
		return &route{
			method: http.MethodPost, path: "/v1/node/" + name, id: name + "-node", tag: "node", summary: summary, about: about,
			body: typeOf[api.NodeOrder](), noBody: true, status: http.StatusOK, answer: typeOf[api.NodeOrdered](),
			handle: s.order(name, trigger),
		}
	}
	return []*route{
		post("pause", "Suspend the node: it takes no commands and leads nothing, until it is resumed",
			"Leadership is handed over first; when nobody takes it, the node goes on as it was. It stays suspended over restarts.", nodestate.Pause),
		post("estop", "Suspend the node, whether or not another one takes over",
			"It is put on record first, which takes 2 seconds at most; whoever is on the node's machine has it carried out then in any case. Intake is closed before leadership is handed over, and as long as nobody takes that the cluster takes no commands.", nodestate.Estop),
		post("resume", "Let a suspended node go on", "", nodestate.Resume),
		post("restart", "Stop the node's process in order, and start it anew",
			"The answer comes before it stops. A node that is suspended comes back suspended.", nodestate.Shutdown),
	}
}

func (s *Server) order(name string, trigger nodestate.Trigger) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, done, e := s.readBody(w, r, api.MaxBodyBytes)
		defer done()
		order := cluster.Order{Trigger: trigger}
		if e == nil {
			e = eachField(body, "", func(f field) *api.Error {
				switch f.key {
				case "reason":
					return f.text(&order.Reason)
				case "dry_run":
					return f.flag(&order.DryRun)
				}
				return f.unknown("reason, dry_run")
			})
		}
		if e != nil {
			s.fail(w, e)
			return
		}
		ctx, cancel := s.within(r, s.options.CommandTimeout)
		defer cancel()
		var on recorded
		if !order.DryRun {
			resumes := trigger == nodestate.Resume
			if on, e = s.onRecord(ctx, orderOf("node."+name, s.node.ID(), order.Reason), s.mayGoWithout(r, resumes)); e != nil {
				s.fail(w, e)
				return
			}
			order.Principal, order.BusSeq = on.by, on.busSeq
		}
		does, cancel := s.carriesOut(r)
		defer cancel()
		came, err := s.node.Order(does, order)
		if err != nil {
			s.fail(w, s.orderError(err))
			return
		}
		answer := api.NodeOrdered{
			Node: s.node.ID(), Order: name, DryRun: order.DryRun, State: string(came.State), Leading: came.Leading, UnderWay: api.UnderWay(came.UnderWay),
			BusSeq: on.busSeq, NotOnRecord: on.without,
		}
		if trigger != nodestate.Resume {
			answer.Refused = []string{"commands", "batches"}
		}
		writeJSON(w, http.StatusOK, answer)
	}
}

// orderError tells of an order that was not carried out, or not kept.
func (s *Server) orderError(err error) *api.Error {
	var refusal *nodestate.Refusal
	if errors.As(err, &refusal) {
		info, _ := api.Lookup("INVALID_TRANSITION")
		return &api.Error{
			Code: info.Code, Definite: true, Status: info.Status, Message: refusal.Error(), Rule: refusal.Rule, State: string(refusal.State),
			Hint: "omni node status " + s.node.ID() + " tells where the node stands, and why",
		}
	}
	if errors.Is(err, cluster.ErrNotKept) {
		e := refused(api.CodeInternal, "", err.Error(), "look at the node's disk, then do it again")
		e.Definite = false
		return e
	}
	var nobody *consensus.Refusal
	if !errors.As(err, &nobody) {
		return refused(api.CodeInternal, "", err.Error(), "")
	}
	info, _ := api.Lookup(string(nobody.Code))
	return &api.Error{
		Code: string(nobody.Code), Definite: true, Status: info.Status, Message: "leadership was not handed over, and the node goes on: " + nobody.Detail,
		Hint: "see the other nodes with omni cluster status; omni node estop " + s.node.ID() + " waits for nobody",
	}
}
