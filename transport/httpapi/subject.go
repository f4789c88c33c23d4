package httpapi

import (
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/recordjson"
)

// subject is what a reader of the log wants to see alone: an agent, a run, or what an
// agent did for a run; the whole log when none is given.
type subject struct {
	agent, run     identity.ID
	byAgent, byRun bool
	given          bool // one of them is
}

// subject reads the parameters agent and run.
func (p *params) subject() (of subject) {
	of.agent, of.byAgent = p.agent("agent")
	of.run, of.byRun = p.agent("run")
	of.given = of.byAgent || of.byRun
	return of
}

// placed is where a subject's blocks are.
type placed struct {
	subject uint32
	last    uint64      // pointer to its newest block
	first   uint64      // busSeq: nothing of it is older
	ledger  *api.Ledger // of a run
}

// find finds the subject in a view, and says whose records are wanted. What is not
// there is refused.
func (s *Server) find(of subject, v *cluster.View, want *recordjson.Select) (at placed, _ *api.Error) {
	if of.byRun {
		no, row := v.Find(of.run)
		if row == nil || v.Runs.Get(no) == nil {
			return at, s.noRun(v.Index)
		}
		want.Run = no
		l := v.Runs.Ledger(no)
		at = placed{subject: logging.RunSubject(no), last: l.LastBlock, first: row.Identity.Seq, ledger: ledgerOf(l.LastBlock, l.Head)}
	}
	if of.byAgent {
		no, row := v.Find(of.agent)
		if row == nil {
			return at, noAgent(v, "agent")
		}
		want.Agent = no
		at.subject, at.last, at.first = no, row.LastBlock, row.Identity.Seq
	}
	return at, nil
}
