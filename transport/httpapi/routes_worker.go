package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

// workerRoutes are what remote workers ask (TO-15). Only the leader answers; another node
// says who leads.
func (s *Server) workerRoutes() []*route {
	const lease = kernelPath + "/workers/leases/{lease}"
	post := func(path, id, summary, about string) *route {
		return &route{method: http.MethodPost, path: path, id: id, tag: "workers", summary: summary, about: about, status: http.StatusOK}
	}
	poll := post(kernelPath+"/workers/poll", "poll-work", "Wait for calls of tools whose adapter is worker",
		"The answer has calls as soon as there are some, none when none came within wait_ms. A call that must not be made twice is on record as dispatched before the answer carries it, and is lent once. Any other is lent again when its lease runs out.")
	poll.body, poll.answer, poll.handle = typeOf[api.PollBody](), typeOf[api.Work](), s.pollWork
	beat := post(lease+"/heartbeat", "heartbeat", "Keep a call", "Its lease begins anew. STALE_RESULT: the call was withdrawn, or is over; LEASE_LOST: it is not this worker's any more. Either way the worker stops.")
	beat.answer, beat.handle = typeOf[api.Heartbeat](), s.heartbeat
	complete := post(lease+"/complete", "complete-call", "Hand in a call's result",
		"It is judged by the manifest's output schema: a result that is none ends the call with its code. After an unknown answer it is sent again; STALE_RESULT says then that the call is over.")
	complete.body, complete.noBody, complete.answer, complete.handle = typeOf[api.CompleteCallBody](), true, typeOf[api.Ended](), s.completeCall
	fail := post(lease+"/fail", "fail-call", "Say that a call failed", "")
	fail.body, fail.noBody, fail.answer, fail.handle = typeOf[api.FailCallBody](), true, typeOf[api.Ended](), s.failCall
	return []*route{
		poll, beat, complete, fail,
		s.reader(&route{
			path: kernelPath + "/workers", id: "list-work", tag: "workers", summary: "Calls that wait for workers, or are lent to them, by tool",
			answer: typeOf[api.Lending](),
		}, s.listWork),
	}
}
