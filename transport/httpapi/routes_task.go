package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

// taskRoutes are what there is about calls that wait for a person (TO-12).
func (s *Server) taskRoutes() []*route {
	complete := &route{
		method: http.MethodPost, path: kernelPath + "/tasks/{task}/complete", id: "complete-task", tag: "tools",
		summary: "Answer a call that waits for a person",
		about:   "The answer must fit the output schema of the tool as it was called. Of several answers the first is taken; any other is STALE_RESULT.",
		command: true, body: typeOf[api.CompleteBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.Done](),
		handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeComplete),
	}
	reject := &route{
		method: http.MethodPost, path: kernelPath + "/tasks/{task}/reject", id: "reject-task", tag: "tools",
		summary: "Say that nobody will answer a call that waits for a person", about: "The call is TASK_REJECTED.",
		command: true, body: typeOf[api.RejectBody](), noBody: true, status: http.StatusOK, answer: typeOf[api.Done](),
		handle: s.command(http.StatusOK, api.MaxBodyBytes, s.makeReject),
	}
	return []*route{
		complete, reject,
		s.reader(&route{
			path: kernelPath + "/tasks/{task}", id: "get-task", tag: "tools", summary: "One call that waits for a person",
			query: with(), answer: typeOf[api.TaskAnswer](),
		}, s.getTask),
		s.reader(&route{
			path: kernelPath + "/tasks", id: "list-tasks", tag: "tools", summary: "Calls that wait for a person, in order of their agents",
			query:  with(agentParam, parameter{name: "after", about: "id of the task to start after", schema: "string"}, limitParam),
			answer: typeOf[api.TaskPage](),
		}, s.listTasks),
	}
}
