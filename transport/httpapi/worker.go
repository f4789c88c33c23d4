package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// pollWork serves POST …/workers/poll.
func (s *Server) pollWork(w http.ResponseWriter, r *http.Request) {
	var body api.PollBody
	e := s.workerBody(w, r, func(raw value.Raw) *api.Error { return decodePoll(raw, &body) })
	if e != nil {
		s.fail(w, e)
		return
	}
	if e := s.mayWork(r.Context(), body.Tools); e != nil {
		s.fail(w, e)
		return
	}
	wait := time.Duration(body.WaitMillis) * time.Millisecond
	control := http.NewResponseController(w)
	// The wait is longer than a request may take to be sent, or to be answered. A writer
	// without deadlines is a test's recorder.
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Now().Add(wait + s.options.CommandTimeout + s.options.WriteTimeout))
	ctx, cancel := s.within(r, wait)
	defer cancel()
	stop := context.AfterFunc(s.closing, cancel)
	defer stop()
	lending := s.node.Lending()
	query := cluster.WorkQuery{Tools: body.Tools, Worker: body.Worker, Most: int(max(body.Max, 1))}
	loans, refusal, e := s.poll(ctx, lending, query)
	switch {
	case e != nil:
		s.fail(w, e)
		return
	case refusal != nil:
		s.fail(w, s.notLent(refusal))
		return
	case r.Context().Err() != nil: // the worker has gone
		lending.Unsent(loans)
		return
	}
	work := api.Work{Calls: make([]api.LentCall, len(loans)), Node: s.node.ID()}
	for i, l := range loans {
		work.Calls[i] = api.LentCall{
			Lease: l.Lease, Fence: l.Fence, Tool: l.Tool, Revision: l.Revision, Args: l.Args, AgentID: l.AgentID, Tick: l.Tick, Call: l.Call,
			IdempotencyKey: l.IdempotencyKey, Idempotent: l.Idempotent, LeaseMillis: l.LeaseTime.Milliseconds(), LeftMillis: l.Left.Milliseconds(),
		}
	}
	writeJSON(w, http.StatusOK, work)
}

// judgeAgain is how often a poll that waits is judged again.
const judgeAgain = time.Second

// poll waits for calls, as long as the worker may work on them.
func (s *Server) poll(ctx context.Context, lending *cluster.Lending, q cluster.WorkQuery) ([]cluster.Loan, *cluster.Answer, *api.Error) {
	for {
		turn, cancel := context.WithTimeout(ctx, judgeAgain)
		loans, refusal := lending.Poll(turn, q)
		cancel()
		if len(loans) > 0 || refusal != nil || ctx.Err() != nil {
			return loans, refusal, nil
		}
		if e := s.mayWork(ctx, q.Tools); e != nil {
			return nil, nil, e
		}
	}
}

// mayWork says whether whoever asks may work on calls of these tools.
func (s *Server) mayWork(ctx context.Context, tools []string) *api.Error {
	known, _ := s.node.Known()
	if known == nil || !known.Principals.On() {
		return nil
	}
	ask := askerIn(ctx)
	return s.judged(ctx, ask, func(st *state.State) *failure.Refusal {
		for _, tool := range tools {
			if _, refusal := ask.may(st, flows.Access{Action: "worker.work", Resource: flows.Named(tool)}); refusal != nil {
				return refusal
			}
		}
		return ask.still(st)
	})
}

// workerBody reads a body, and gives its memory back when it is decoded.
func (s *Server) workerBody(w http.ResponseWriter, r *http.Request, decode func(value.Raw) *api.Error) *api.Error {
	raw, done, e := s.readBody(w, r, api.MaxBodyBytes)
	defer done()
	if e != nil {
		return e
	}
	return decode(raw)
}

// notLent tells a worker why not.
func (s *Server) notLent(a *cluster.Answer) *api.Error {
	if a.Code == api.CodeInvalidArgument {
		return invalid("lease", a.Detail, "show the lease as the poll gave it")
	}
	return s.unapplied(a)
}

// heartbeat serves POST …/workers/leases/{lease}/heartbeat.
func (s *Server) heartbeat(w http.ResponseWriter, r *http.Request) {
	e := s.workerBody(w, r, func(raw value.Raw) *api.Error {
		return eachField(raw, "", func(f field) *api.Error { return f.unknown("none") })
	})
	if e != nil {
		s.fail(w, e)
		return
	}
	lease, left, refusal := s.node.Lending().Extend(r.PathValue("lease"))
	if refusal != nil {
		s.fail(w, s.notLent(refusal))
		return
	}
	writeJSON(w, http.StatusOK, api.Heartbeat{LeaseMillis: lease.Milliseconds(), LeftMillis: left.Milliseconds(), Node: s.node.ID()})
}

// completeCall serves POST …/workers/leases/{lease}/complete. A result that is none ends
// the call: whoever made it would make the same of it again.
func (s *Server) completeCall(w http.ResponseWriter, r *http.Request) {
	result := tools.Succeed(value.Null)
	e := s.workerBody(w, r, func(raw value.Raw) *api.Error { return decodeComplete(raw, &result) })
	switch {
	case e == nil:
	case e.Code == api.CodeTooLarge:
		result = tools.Fail(failure.ToolResultTooLarge, "the worker's answer is larger than "+strconv.Itoa(api.MaxBodyBytes)+" bytes")
	case e.Code == api.CodeInvalidValue && (e.Field == "result" || strings.HasPrefix(e.Field, "result.") || strings.HasPrefix(e.Field, "result[")):
		result = tools.Fail(failure.ToolResultInvalid, "the worker's answer is not one of the JSON data model: "+e.Message)
	default:
		s.fail(w, e)
		return
	}
	s.endCall(w, r, result)
}

// failCall serves POST …/workers/leases/{lease}/fail.
func (s *Server) failCall(w http.ResponseWriter, r *http.Request) {
	result := tools.Result{Code: failure.ToolFailed}
	if e := s.workerBody(w, r, func(raw value.Raw) *api.Error { return decodeFail(raw, &result) }); e != nil {
		s.fail(w, e)
		return
	}
	s.endCall(w, r, result)
}

func (s *Server) endCall(w http.ResponseWriter, r *http.Request, result tools.Result) {
	ctx, cancel := s.within(r, s.options.CommandTimeout)
	defer cancel()
	ended, refusal := s.node.Lending().End(ctx, r.PathValue("lease"), result)
	if refusal != nil {
		s.fail(w, s.notLent(refusal))
		return
	}
	writeJSON(w, http.StatusOK, api.Ended{
		OK: ended.Result.OK, Code: string(ended.Result.Code), Message: ended.Result.Message, Index: ended.Index, Node: s.node.ID(),
	})
}

// listWork serves GET …/workers.
func (s *Server) listWork(_ context.Context, _ *http.Request, _ *params) (any, *api.Error) {
	all, refusal := s.node.Lending().Standings()
	if refusal != nil {
		return nil, s.notLent(refusal)
	}
	told := api.Lending{Tools: make([]api.LentTool, len(all)), Node: s.node.ID()}
	for i := range all {
		of := &all[i]
		told.Tools[i] = api.LentTool{Tool: of.Tool, Waiting: of.Waiting, Lent: of.Lent, Polls: of.Polls}
		for j := range of.Leases {
			l := &of.Leases[j]
			told.Tools[i].Leases = append(told.Tools[i].Leases, api.LeaseOfCall{
				AgentID: of.Agents[j], Tick: l.Key.Tick, Call: l.Key.Call, Worker: l.Worker, Fence: l.Fence, LeftMillis: l.Left.Milliseconds(),
			})
		}
	}
	return told, nil
}
