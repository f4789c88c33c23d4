package cluster

import (
	"context"
	"errors"
	"time"

	toolbox "github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/workers"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Codes of what workers are answered.
const (
	CodeLeaseLost   = "LEASE_LOST"        // definite: the call is not this worker's any more
	CodeStaleResult = "STALE_RESULT"      // definite: the call is not pending any more
	CodeTooMany     = "TOO_MANY_REQUESTS" // definite: ask again later
)

// Lending is what workers ask of a node: the calls of tools whose kind lends them
// (TO-15). Only the leader lends; whatever it is asked, another node says who leads.
type Lending struct {
	node    *Node
	refusal *Answer // of one that never lends
}

// Lending answers workers.
func (n *Node) Lending() *Lending { return &Lending{node: n} }

// Lending of a node in safe mode refuses.
func (h *Held) Lending() *Lending {
	return RefuseWorkers(h.Propose(context.Background(), event.Event{}))
}

// Lending of a node that has not started refuses.
func (w *Waiting) Lending() *Lending {
	return RefuseWorkers(w.Propose(context.Background(), event.Event{}))
}

// RefuseWorkers is the Lending of a node that lends nothing, and says why.
func RefuseWorkers(with Answer) *Lending { return &Lending{refusal: &with} }

// WorkQuery is a worker that asks for calls.
type WorkQuery struct {
	Tools  []string
	Worker string // as it calls itself
	Most   int    // calls that it takes
}

// Loan is a call that a worker has now.
type Loan struct {
	Lease          string // what the worker shows
	Fence          uint64
	Tool           string
	Revision       uint64
	Args           value.Raw
	AgentID        string
	Tick           uint64
	Call           uint32
	IdempotencyKey string
	Idempotent     bool
	LeaseTime      time.Duration // within which the next sign of life must come
	Left           time.Duration // of the call's time
}

// commitTime bounds what is committed for a worker.
const commitTime = 10 * time.Second

// lookAgain is how often a poll that waits looks by itself: what kept calls back may
// end without a word, as an emergency stop does.
const lookAgain = time.Second

func (l *Lending) term() (term uint64, refused *Answer) {
	if l.refusal != nil {
		return 0, l.refusal
	}
	term, open := l.node.runner.broker.Term()
	if !open || l.node.fsm.State().Config == nil {
		answer := l.node.notLeading()
		return 0, &answer
	}
	return term, nil
}

// Poll waits until there are calls for the worker, or the context ends: then there are
// none.
func (l *Lending) Poll(ctx context.Context, q WorkQuery) ([]Loan, *Answer) {
	if _, refused := l.term(); refused != nil {
		return nil, refused
	}
	r := l.node.runner
	p := r.broker.Wait(q.Tools)
	if p == nil {
		return nil, &Answer{Verdict: Refused, Code: CodeTooMany, Detail: "as many workers wait at this node as may"}
	}
	defer r.broker.Leave(p)
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		term, refused := l.term()
		if refused != nil {
			return nil, refused
		}
		if !r.suspended() {
			if loans := r.handOut(q, term); len(loans) > 0 {
				return loans, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-p.C:
		case <-again.C:
		}
	}
}

// handOut takes what there is, and has what must not be made twice dispatched, all of it
// together, before anybody is told of it.
func (r *runner) handOut(q WorkQuery, term uint64) (loans []Loan) {
	taken := r.broker.Take(q.Tools, q.Worker, q.Most, time.Now())
	defer func() { // whatever was not lent, also because of a panic
		for _, lease := range taken {
			r.broker.Return(lease)
		}
	}()
	state := r.n.fsm.State()
	var calls []*tools.Call // to be dispatched
	for _, lease := range taken {
		if call, pending := state.Tools.Get(lease.Key); !pending {
			r.broker.Drop(lease.Key)
		} else if !call.Idempotent {
			calls = append(calls, call)
		}
	}
	permits := make(map[tools.Key]permit, len(calls))
	if len(calls) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), commitTime)
		defer cancel()
		for i, may := range r.dispatch(ctx, calls, term) {
			permits[calls[i].Key] = may
		}
	}
	for _, lease := range taken {
		call, pending := r.n.fsm.State().Tools.Get(lease.Key)
		may, asked := permits[lease.Key]
		switch {
		case !pending:
			r.broker.Drop(lease.Key)
		case asked && may == wasted:
			r.waste(call)
		case asked && may == notDispatched && call.Dispatched != 0: // by whom it was is found out anew
			r.broker.Drop(lease.Key)
		case asked && may == notDispatched:
		default:
			if lent, ok := r.broker.Lend(lease, time.Now()); ok {
				loans = append(loans, r.loan(lease, &lent, call))
			} else if asked {
				r.waste(call)
			}
		}
	}
	return loans
}

// waste ends a call that was dispatched, and that no worker was told of.
func (r *runner) waste(call *tools.Call) {
	r.broker.Keep(call.Key)
	r.later(notMade(call))
}

func (r *runner) loan(lease workers.Lease, lent *workers.Call, call *tools.Call) Loan {
	state := r.n.fsm.State()
	left := time.Until(lent.Until)
	return Loan{
		Lease: lease.Token(state.Config.Seed[:]), Fence: lease.Fence, Tool: call.Tool, Revision: call.Revision, Args: call.Args,
		AgentID: flows.FormatID(state.Agents.Get(call.Key.Agent).Identity.ID), Tick: call.Key.Tick, Call: call.Key.Call,
		IdempotencyKey: r.idempotencyKey(call), Idempotent: call.Idempotent, LeaseTime: min(lent.Lease, left), Left: left,
	}
}

// Unsent takes loans back that the worker was certainly not told of.
func (l *Lending) Unsent(loans []Loan) {
	r := l.node.runner
	state := r.n.fsm.State()
	for i := range loans {
		lease, _ := workers.ReadToken(loans[i].Lease, state.Config.Seed[:])
		if _, err := r.broker.Close(lease, time.Now()); err != nil {
			continue
		}
		switch call, pending := state.Tools.Get(lease.Key); {
		case !pending:
			r.broker.Drop(lease.Key)
		case call.Idempotent:
			r.broker.Return(lease)
		default:
			r.waste(call)
		}
	}
}

// lease finds the pending call of which a worker shows the lease.
func (l *Lending) lease(token string) (workers.Lease, *tools.Call, *Answer) {
	if _, refused := l.term(); refused != nil {
		return workers.Lease{}, nil, refused
	}
	r := l.node.runner
	state := r.n.fsm.State()
	lease, ok := workers.ReadToken(token, state.Config.Seed[:])
	if !ok {
		return lease, nil, &Answer{Verdict: Refused, Code: string(failure.InvalidArgument), Detail: "lease: is none that this cluster gave"}
	}
	call, pending := state.Tools.Get(lease.Key)
	if !pending {
		r.broker.Drop(lease.Key)
		return lease, nil, resolved()
	}
	if call.Dispatched != 0 {
		r.lend(context.Background(), call) // a new leader may not have come to it yet
	}
	return lease, call, nil
}

func resolved() *Answer {
	return &Answer{Verdict: Refused, Code: CodeStaleResult, Detail: "the call is not pending: it was resolved, withdrawn, or its time is over"}
}

// lost is the answer where a lease is not in force.
func lost(err error) *Answer {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workers.ErrClosing):
		return &Answer{Verdict: Refused, Code: CodeTooMany, Detail: err.Error()}
	}
	return &Answer{Verdict: Refused, Code: CodeLeaseLost, Detail: err.Error()}
}

// ToolOf is the tool of the call that a lease is of; empty when it is of none that this
// node knows.
func (l *Lending) ToolOf(token string) string {
	if l.node == nil {
		return ""
	}
	state := l.node.fsm.State()
	if state.Config == nil {
		return ""
	}
	lease, ok := workers.ReadToken(token, state.Config.Seed[:])
	if !ok {
		return ""
	}
	call, ok := state.Tools.Get(lease.Key)
	if !ok {
		return ""
	}
	return call.Tool
}

// Extend takes a worker's sign of life: its lease begins anew.
func (l *Lending) Extend(token string) (lease, left time.Duration, refused *Answer) {
	at, _, refused := l.lease(token)
	if refused != nil {
		return 0, 0, refused
	}
	lease, left, err := l.node.runner.broker.Extend(at, time.Now())
	return lease, left, lost(err)
}

// Ended is what a worker's result came to.
type Ended struct {
	Index  uint64
	Result toolbox.Result // as it was judged
}

// End takes what a worker's call came to, judges it as any adapter's answer, and commits
// it. A result that is none ends the call, too.
func (l *Lending) End(ctx context.Context, token string, result toolbox.Result) (*Ended, *Answer) {
	at, call, refused := l.lease(token)
	if refused != nil {
		return nil, refused
	}
	r := l.node.runner
	revision, ok := r.n.fsm.State().Tools.Revision(call.Revision)
	if !ok {
		return nil, resolved()
	}
	since, err := r.broker.Close(at, time.Now())
	if err != nil {
		return nil, lost(err)
	}
	taken := false
	defer func() {
		if taken {
			r.broker.Drop(at.Key)
		} else {
			r.broker.Reopen(at, time.Now())
		}
	}()
	judged := r.n.config.Tools.Judge(requestOf(call, revision.Manifest), result)
	answer := r.n.Propose(ctx, r.eventOf(resultOf(at.Key, judged, time.Since(since))))
	if taken = answer.Verdict == Applied; !taken {
		return nil, &answer
	}
	if !answer.Outcome.Done() {
		return nil, resolved()
	}
	r.n.config.Metrics.Call(r.n.config.Tools.KindOf(call.Tool, revision.Manifest), judged.Code, time.Since(since))
	return &Ended{Index: answer.Outcome.Index, Result: judged}, nil
}

// maxListed bounds the leases of each tool that are told of.
const maxListed = 100

// LentTool is how one tool stands whose calls are lent.
type LentTool struct {
	workers.Standing
	Agents []string // of its leases, in the same order
}

// Standings tells how the tools stand whose calls are lent.
func (l *Lending) Standings() ([]LentTool, *Answer) {
	if _, refused := l.term(); refused != nil {
		return nil, refused
	}
	r := l.node.runner
	standings := r.broker.Standings(maxListed, time.Now())
	state := r.n.fsm.State() // read later, it knows every agent that is named
	all := make([]LentTool, 0, len(standings))
	for _, s := range standings {
		one := LentTool{Standing: s}
		for i := range s.Leases {
			one.Agents = append(one.Agents, flows.FormatID(state.Agents.Get(s.Leases[i].Key.Agent).Identity.ID))
		}
		all = append(all, one)
	}
	return all, nil
}
