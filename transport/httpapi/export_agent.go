package httpapi

import (
	"encoding/hex"
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// exportAgent serves GET …/agents/{id}/export: what it takes to replay one
// agent (LO-4), as of the state that the read's consistency gave.
func (s *Server) exportAgent(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		ctx, cancel := s.within(r, s.options.ReadTimeout)
		view, no, row, e := s.findAgent(ctx, r, p)
		cancel()
		if e != nil {
			s.fail(w, e)
			return
		}
		s.sendSubject(w, r, p, &subjectExporter{
			of: func(agent uint32) bool { return agent == no }, last: row.LastBlock, from: row.Identity.Seq,
			contentType: logexport.AgentContentType, file: "agent.omni",
			header: logexport.SubjectHeader{
				ClusterID: view.Config.ClusterID, KernelID: s.node.KernelID(), AgentID: r.PathValue("id"), Agent: no,
				Position: row.LastBlock - 1, Head: hex.EncodeToString(row.Head[:]),
			},
		})
	}
}

// exportRun serves GET …/runs/{id}/ledger: the provenance ledger of a run (RU-4), and
// what it takes to replay it.
func (s *Server) exportRun(rt *route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p := rt.params(r)
		ctx, cancel := s.within(r, s.options.ReadTimeout)
		view, run, row, e := s.findRun(ctx, r, p)
		cancel()
		if e != nil {
			s.fail(w, e)
			return
		}
		ledger := view.Runs.Ledger(run.Agent)
		s.sendSubject(w, r, p, &subjectExporter{
			of: func(agent uint32) bool {
				one := view.Agents.Get(agent)
				return one != nil && one.Run == run.Agent
			},
			last: ledger.LastBlock, from: row.Identity.Seq, contentType: logexport.LedgerContentType, file: "ledger.omni",
			header: logexport.SubjectHeader{
				ClusterID: view.Config.ClusterID, KernelID: s.node.KernelID(), RunID: r.PathValue("id"), Run: run.Agent,
				Position: ledger.LastBlock - 1, Head: hex.EncodeToString(ledger.Head[:]),
			},
		})
	}
}

// ledgerOf is where a run's ledger ends, as it is told.
func ledgerOf(last uint64, head [32]byte) *api.Ledger {
	return &api.Ledger{Position: last - 1, Head: hex.EncodeToString(head[:])}
}
