package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// runRoutes are what there is about runs (RU-1, RU-2).
func (s *Server) runRoutes() []*route {
	post := func(path, id, summary, about string, making making) *route {
		return &route{
			method: http.MethodPost, path: kernelPath + "/runs" + path, id: id, tag: "runs", summary: summary, about: about,
			command: true, noBody: true, status: http.StatusOK, answer: typeOf[api.Done](), handle: s.command(http.StatusOK, api.MaxBodyBytes, making),
		}
	}
	plan := post("", "plan-run", "Plan a run: a goal, its tasks or who plans them, and a root agent",
		"A plan that is given makes the run PLANNED at once; a planner makes it. With start it is carried out as soon as it is there. The run's id is its root agent's.", s.makePlanRun)
	plan.body, plan.noBody, plan.status = typeOf[event.PlanRun](), false, http.StatusCreated
	plan.handle = s.command(http.StatusCreated, api.MaxBodyBytes, s.makePlanRun)
	start := post("/{id}/start", "start-run", "Carry out the plan of a run", "", s.makeStartRun)
	start.body = typeOf[api.RunStartBody]()
	pause := post("/{id}/pause", "pause-run", "Let a run begin nothing new",
		"The running task ends first. With force it is frozen, and what it waits for is withdrawn.", s.makePauseRun)
	pause.body = typeOf[api.RunPauseBody]()
	resume := post("/{id}/resume", "resume-run", "Go on after the last completed task",
		"A pause that has not taken effect is taken back. What a forced pause withdrew is asked for again.", s.makeResumeRun)
	resume.body = typeOf[api.RunBody]()
	kill := post("/{id}/kill", "kill-run", "End a run and its root agent, whatever they are doing", "", s.makeKillRun)
	kill.body = typeOf[api.RunBody]()
	return []*route{
		plan, start, pause, resume, kill,
		s.reader(&route{
			path: kernelPath + "/runs/{id}", id: "get-run", tag: "runs", summary: "One run, with its tasks",
			query: with(), answer: typeOf[api.Run](),
		}, s.getRun),
		s.reader(&route{
			path: kernelPath + "/runs", id: "list-runs", tag: "runs", summary: "Runs, in the order in which they were defined",
			about: "A page may be short, even empty, and still have a next.",
			query: with(
				parameter{name: "state", about: "only runs in this state", schema: "string"},
				parameter{name: "label", about: "key=value; only runs whose root agent has this label; may be repeated", schema: "string", many: true},
				parameter{name: "after", about: "id of the run to start after", schema: "string"},
				limitParam,
			),
			answer: typeOf[api.RunPage](),
		}, s.listRuns),
	}
}
