package httpapi

import (
	"context"
	"net/http"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
)

// getRun serves GET …/runs/{id}.
func (s *Server) getRun(ctx context.Context, r *http.Request, p *params) (any, *api.Error) {
	view, run, row, e := s.findRun(ctx, r, p)
	if e != nil {
		return nil, e
	}
	ledger := view.Runs.Ledger(run.Agent)
	told := &api.Run{
		RunID: flows.FormatID(row.Identity.ID), Name: row.Identity.Name, State: run.State.String(), Goal: run.Goal, Config: run.Config,
		Seed: run.Seed, Planner: run.Planner != 0, Start: run.AutoStart, Total: run.Total, Done: run.Done, Pausing: run.Pausing.String(),
		Agent: row.Lifecycle.State.String(), DefinedAt: run.DefinedAt, StartedAt: run.StartedAt, Archived: run.Archived,
		Ledger: ledgerOf(ledger.LastBlock, ledger.Head), As: as(&view),
	}
	if last := &run.Last; run.Count > 0 {
		told.Last = &api.RunStep{
			From: last.From.String(), Trigger: last.Trigger.String(), Cause: last.Cause.String(), Code: string(last.Code),
			Reason: last.Reason, BusSeq: last.Seq, AtMillis: last.At,
		}
	}
	for i := range run.Tasks {
		told.Tasks = append(told.Tasks, describeTask(run, &run.Tasks[i]))
	}
	describeWork(told, &view, run.Agent, row, run)
	return told, nil
}

// describeWork adds what the root agent is doing for its run, and has spent.
func describeWork(told *api.Run, v *cluster.View, no uint32, row *state.Row, run *runs.Run) {
	told.Labels, told.Children = texts(v.State, row.Identity.Labels), childrenOf(v, no)
	if all := accounts(v, no); len(all) > 0 { // a root agent's is its own
		told.Budget = &all[0]
	}
	if run.State.Over() || run.Running == 0 {
		return
	}
	told.Waits = waits(v, no, row)
	if tick := row.Execution.Current; tick != nil {
		told.Tasks[run.Running-1].Retries = row.Recovery.Of(tick.Seq)
	}
	if row.Lifecycle.State == lifecycle.Faulted {
		told.RetryAt = row.Timer.Deadline
	}
}

// findRun finds the run that the path names, and its root agent's row.
func (s *Server) findRun(ctx context.Context, r *http.Request, p *params) (cluster.View, *runs.Run, *state.Row, *api.Error) {
	if e := s.checkRunID(r.PathValue("id")); e != nil {
		return cluster.View{}, nil, nil, e
	}
	view, no, row, e := s.findAgent(ctx, r, p)
	if e != nil && e.Code == api.CodeNotFound {
		return view, nil, nil, s.noRun(e.Index)
	}
	if e != nil {
		return view, nil, nil, e
	}
	run := view.Runs.Get(no)
	if run == nil {
		return view, nil, nil, s.noRun(view.Index)
	}
	return view, run, row, nil
}

func describeTask(run *runs.Run, t *runs.Task) api.TaskProgress {
	told := api.TaskProgress{
		Name: t.Name, State: t.State.String(), Tick: t.Tick, StartedAt: t.StartedAt, EndedAt: t.EndedAt,
		Result: t.Result, Code: string(t.Code), Message: t.Message,
	}
	for _, used := range t.Uses {
		told.Uses = append(told.Uses, run.Tasks[used].Name)
	}
	return told
}

func (s *Server) noRun(index uint64) *api.Error {
	e := refused(api.CodeNotFound, "run", "no run has this id", s.listOfRuns())
	e.Index = index
	return e
}

// listOfRuns is a hint that names the kernel that was asked.
func (s *Server) listOfRuns() string {
	return "see what there is with: omni run list, or GET /v1/kernels/" + s.node.KernelID() + "/runs"
}

const runStateNames = "PLANNING, PLANNED, APPLYING, PAUSED, COMPLETED, FAILED, KILLED"

// listRuns serves GET …/runs, in the order in which they were defined.
func (s *Server) listRuns(ctx context.Context, _ *http.Request, p *params) (any, *api.Error) {
	limit, consistency := p.limit(), p.consistency()
	sel := &selection{known: make(map[uint32]bool)}
	p.labels(sel)
	after, resumed := p.agent("after")
	wanted, selected := runs.ParseState(p.values.Get("state"))
	if p.values.Has("state") && !selected {
		p.fail("state", "must be one of "+runStateNames, "")
	}
	if e := p.check(); e != nil {
		return nil, e
	}
	view, e := s.read(ctx, consistency)
	if e != nil {
		return nil, e
	}
	first := uint32(1)
	if resumed {
		no, row := view.Find(after)
		if row == nil {
			return nil, s.noRun(view.Index)
		}
		first = no + 1
	}
	page := &api.RunPage{Runs: []api.RunSummary{}, As: as(&view)}
	looked, last := 0, ""
	view.Runs.From(first, func(run *runs.Run) bool {
		if len(page.Runs) == limit || looked == maxLooked {
			page.Next = last
			return false
		}
		looked++
		id := &view.Agents.Get(run.Agent).Identity
		last = flows.FormatID(id.ID)
		if (!selected || run.State == wanted) && sel.labelled(&view, id.Labels) {
			page.Runs = append(page.Runs, api.RunSummary{
				RunID: last, Name: id.Name, State: run.State.String(), Done: run.Done, Total: run.Total,
				Labels: texts(view.State, id.Labels), DefinedAt: run.DefinedAt,
			})
		}
		return true
	})
	return page, nil
}
