package check

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Budgets judges accounts by the log, the service's hits and what was read (RU-3,
// RU-5): what is reserved and settled together never goes beyond a limit, but for
// overruns; each reservation is settled once, at what the service said to that very
// call; a call that is charged nothing never reached it; and an account that was read
// has the sums of its index.
type Budgets struct{}

// Name implements Checker.
func (Budgets) Name() string { return model.Budgets }

// balance is what the log says of one account, in tokens.
type balance struct {
	above                    string
	limit, reserved, settled uint64
	steps                    []balanceStep
}

type balanceStep struct{ index, reserved, settled uint64 }

// asOf is the account after the event at an index.
func (b *balance) asOf(index uint64) (s balanceStep) {
	for _, step := range b.steps {
		if step.index > index {
			break
		}
		s = step
	}
	return s
}

// held is what is reserved for a call.
type held struct {
	account  string
	tokens   uint64
	seq      uint64
	deadline int64 // of the call, on the kernel's clock
	outlived bool  // nobody waits for the call; the service may tell until its deadline
}

type bankBook struct {
	t        *tally
	accounts map[string]*balance
	open     map[string]held
	hits     map[string]history.Hit // that were answered, by key
	touched  map[string]bool        // keys that reached the service
}

// Check implements Checker.
func (c Budgets) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	b := &bankBook{
		t: t, accounts: make(map[string]*balance), open: make(map[string]held),
		hits: make(map[string]history.Hit), touched: make(map[string]bool),
	}
	for _, h := range e.Hits {
		b.touched[h.Key] = true
		if h.Fate != model.FateDropped {
			b.hits[h.Key] = h
		}
	}
	for _, name := range []string{"accounts", "reservations", "waited", "overran", "assumed", "returned", "reported", "outlived their agents", "open until their deadline", "refused", "other limits"} {
		t.count(name, 0)
	}
	for i := range e.Log {
		if err := b.take(&e.Log[i]); err != nil {
			t.doubt(0, nil, "the log cannot be read: %v", err)
			return t.end()
		}
	}
	var ended int64
	if len(e.Log) > 0 {
		ended = e.Log[len(e.Log)-1].AtMillis
	}
	for _, key := range slices.Sorted(maps.Keys(b.open)) { // the history ends when all agents are at rest
		if h := b.open[key]; h.outlived && ended < h.deadline {
			t.count("open until their deadline", 1)
		} else {
			t.find(0, nil, "what was reserved for call %s at busSeq %d was never settled", key, h.seq)
		}
	}
	for _, op := range e.Of(model.Budgets) {
		b.read(&op)
	}
	if t.verdict.Figures["reservations"] == 0 || t.verdict.Figures["reported"] == 0 {
		t.doubt(0, nil, "nothing was reserved, or nothing reported")
	}
	return t.end()
}

// take adds one record up.
func (b *bankBook) take(r *api.Record) error {
	switch r.Kind {
	case "BUDGET_OPENED", "BUDGET_CHANGED", "BUDGET_RESERVED", "BUDGET_SETTLED", "BUDGET_OUTLIVED":
	case "BUDGET_WAITING":
		b.t.count("waited", 1)
		return nil
	case "BUDGET_OVERRUN":
		b.t.count("overran", 1)
		return nil
	case "BUDGET_EXCEEDED":
		b.t.count("refused", 1)
		return nil
	default:
		return nil
	}
	body, err := bodyOf[struct {
		Call    json.Number `json:"call"`
		Above   string      `json:"above_id"`
		Account string      `json:"account_id"`
		Tokens  uint64      `json:"tokens"`
		How     string      `json:"how"`
		Until   int64       `json:"deadline_ms"`
	}](r)
	if err != nil {
		return err
	}
	key := callKey(r, body.Call.String())
	switch r.Kind {
	case "BUDGET_OPENED":
		b.t.count("accounts", 1)
		b.accounts[r.AgentID] = &balance{above: body.Above, limit: body.Tokens}
	case "BUDGET_CHANGED":
		b.t.count("other limits", 1)
		if a := b.accounts[r.AgentID]; a == nil {
			b.t.find(0, nil, "busSeq %d changes an account of %s, which has none", r.BusSeq, r.AgentID)
		} else {
			a.limit = body.Tokens
		}
	case "BUDGET_RESERVED":
		b.reserve(r, key, held{account: body.Account, tokens: body.Tokens, seq: r.BusSeq, deadline: body.Until})
	case "BUDGET_OUTLIVED":
		b.t.count("outlived their agents", 1)
		if h, open := b.open[key]; open {
			h.outlived = true
			b.open[key] = h
		}
	case "BUDGET_SETTLED":
		b.settle(r, key, body.How, body.Tokens)
	}
	return nil
}

// up visits an account and those above it.
func (b *bankBook) up(r *api.Record, from string, each func(id string, a *balance)) {
	for id := from; id != ""; {
		a := b.accounts[id]
		if a == nil {
			b.t.find(0, nil, "busSeq %d charges an account of %s, which has none", r.BusSeq, id)
			return
		}
		each(id, a)
		a.steps = append(a.steps, balanceStep{r.Index, a.reserved, a.settled})
		id = a.above
	}
}

func (b *bankBook) reserve(r *api.Record, key string, h held) {
	b.t.count("reservations", 1)
	if before, twice := b.open[key]; twice {
		b.t.find(0, nil, "something is reserved for call %s at busSeq %d and again at %d", key, before.seq, r.BusSeq)
	}
	b.open[key] = h
	b.up(r, h.account, func(id string, a *balance) {
		a.reserved += h.tokens
		if h.tokens > 0 && a.limit > 0 && a.reserved+a.settled > a.limit {
			b.t.find(0, nil, "busSeq %d: the account of %s has %d tokens, and %d are reserved and %d settled", r.BusSeq, id, a.limit, a.reserved, a.settled)
		}
	})
}

func (b *bankBook) settle(r *api.Record, key, how string, tokens uint64) {
	h, open := b.open[key]
	if !open {
		b.t.find(0, nil, "call %s is settled at busSeq %d, and nothing is reserved for it", key, r.BusSeq)
		return
	}
	delete(b.open, key)
	b.t.count(how, 1)
	hit, answered := b.hits[key]
	switch {
	case how == "reported" && !answered:
		b.t.find(0, nil, "call %s is settled at busSeq %d by what the service said, and it answered no such call", key, r.BusSeq)
	case how == "reported" && tokens != model.UsageOf(key):
		b.t.find(hit.At, nil, "call %s is settled at busSeq %d with %d tokens, and the service said %d", key, r.BusSeq, tokens, model.UsageOf(key))
	case how == "assumed" && tokens != h.tokens:
		b.t.find(0, nil, "call %s is settled at busSeq %d with %d tokens, and had declared %d", key, r.BusSeq, tokens, h.tokens)
	case how == "returned" && tokens != 0:
		b.t.find(0, nil, "call %s was not made, and is charged %d tokens at busSeq %d", key, tokens, r.BusSeq)
	case how == "returned" && b.touched[key]:
		b.t.find(0, nil, "call %s is charged nothing at busSeq %d, and it reached the service", key, r.BusSeq)
	}
	b.up(r, h.account, func(_ string, a *balance) {
		a.reserved -= min(a.reserved, h.tokens)
		a.settled += tokens
	})
}

// read compares what somebody read with the sums at that index.
func (b *bankBook) read(op *history.Op) {
	if op.Sent != nil || op.Outcome != history.Ok || op.Index == 0 {
		return
	}
	accounts, err := history.Decode[[]api.Account](op.Out)
	if err != nil {
		b.t.doubt(op.Returned, []uint64{op.ID}, "operation %d cannot be read: %v", op.ID, err)
		return
	}
	for _, seen := range accounts {
		b.t.count("accounts read", 1)
		has := b.accounts[seen.AgentID]
		if has == nil {
			b.t.find(op.Returned, []uint64{op.ID}, "an account of %s was read, and the log has none", seen.AgentID)
			continue
		}
		if was := has.asOf(op.Index); was.reserved != seen.Tokens.Reserved || was.settled != seen.Tokens.Settled {
			b.t.find(op.Returned, []uint64{op.ID}, "the account of %s was read at index %d with %d tokens reserved and %d settled, and had %d and %d",
				seen.AgentID, op.Index, seen.Tokens.Reserved, seen.Tokens.Settled, was.reserved, was.settled)
		}
	}
}

var _ Checker = Budgets{}
