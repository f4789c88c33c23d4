package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func (s *Server) makePlanRun(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.RunPlan, new(event.PlanRun), body, decodePlanRun, s.checkPlanRun)
}

func (s *Server) makeStartRun(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.RunStart, &event.StartRun{Run: r.PathValue("id")}, body, decodeStartRun,
		func(c *event.StartRun) *api.Error { return s.checkRunID(c.Run) })
}

func (s *Server) makePauseRun(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.RunPause, &event.PauseRun{Run: r.PathValue("id")}, body, decodePauseRun,
		func(c *event.PauseRun) *api.Error { return s.checkOnRun(c.Run, c.Trigger) })
}

func (s *Server) makeResumeRun(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.RunResume, &event.ResumeRun{Run: r.PathValue("id")}, body, decodeResumeRun,
		func(c *event.ResumeRun) *api.Error { return s.checkOnRun(c.Run, c.Trigger) })
}

func (s *Server) makeKillRun(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	return made(event.RunKill, &event.KillRun{Run: r.PathValue("id")}, body, decodeKillRun,
		func(c *event.KillRun) *api.Error { return s.checkOnRun(c.Run, c.Trigger) })
}

// checkPlanRun refuses early what the kernel would: the definition's rules, and
// programs that do not compile.
func (s *Server) checkPlanRun(c *event.PlanRun) *api.Error {
	r := flows.CheckRun(c)
	if r == nil {
		r = flows.CheckCompiles(&c.Agent, "agent.", s.programs.Lookup)
	}
	if r == nil {
		r = flows.CheckRunCompiles(c, s.programs.Lookup)
	}
	if r != nil {
		return atDoor(r)
	}
	return nil
}

func (s *Server) checkRunID(id string) *api.Error {
	if _, ok := flows.ParseID(id); !ok {
		return invalid("run", "must be a UUID such as 018f4e5c-0000-7000-8000-000000000001", s.listOfRuns())
	}
	return nil
}

func (s *Server) checkOnRun(id, trigger string) *api.Error {
	if _, ok := runs.ParseCause(trigger); !ok {
		return invalid("trigger", "must be operator, budget, governance, security or runaway_cost", "")
	}
	return s.checkRunID(id)
}
