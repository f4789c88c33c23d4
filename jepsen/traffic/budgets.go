package traffic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/client"
)

// declaredTokens is what each call says that it may come to; now and then it comes
// to more (model.UsageOf).
const declaredTokens = 10

// Budgets starts families that draw on one account, which has no room for all of
// their calls at once, gives some of them other limits, and ends some in the middle.
type Budgets struct {
	mu   sync.Mutex // guards what follows
	open []string   // agents that nobody saw at rest
	made int64
}

// Name implements Workload.
func (*Budgets) Name() string { return model.Budgets }

// Setup implements Workload.
func (*Budgets) Setup(_ context.Context, e *Env) error {
	if e.Service == "" {
		return errors.New("budget: a run with budgets needs the counting service")
	}
	return nil
}

// Work implements Workload.
func (t *Budgets) Work(ctx context.Context, w *Worker) {
	t.mu.Lock()
	id, open := "", len(t.open)
	if open > 0 {
		id = t.open[w.Dice.IntN(min(16, open))]
	}
	t.mu.Unlock()
	switch n := w.Dice.IntN(100); {
	case open == 0 || n < 25 && open < 40:
		t.start(ctx, w)
	case n < 40:
		tokens := uint64(60 + w.Dice.IntN(200))
		w.Do(ctx, Command{Name: "limit", Key: id, In: tokens, Body: event.SetBudget{Agent: id, Tokens: &tokens, Reason: w.ID()}})
	case n < 45:
		w.Do(ctx, Command{Name: "kill", Key: id, Body: event.Kill{Agent: id, Reason: w.ID()}})
	default:
		t.look(ctx, w, id)
	}
}

func (t *Budgets) start(ctx context.Context, w *Worker) {
	t.mu.Lock()
	t.made++
	family := t.made
	t.mu.Unlock()
	in := model.BudgetIn{Limit: uint64(40 + w.Dice.IntN(100)), Declared: declaredTokens}
	var children []string
	for i := range 3 + w.Dice.IntN(4) {
		site := fmt.Sprintf("budget-%d-%d", family, i)
		in.Sites = append(in.Sites, site)
		call := fmt.Sprintf(`{"tool":"http.request","timeout_ms":%d,"handle":true,"args":{"method":"POST","url":%q,"body":{},"idempotent":%t,"cost":{"tokens":%d}}}`,
			errandTimeout.Milliseconds(), w.Service+"/"+site, i%2 == 0, declaredTokens)
		own := ""
		if i == 0 {
			own = `,"budget":{"tokens":15}`
		}
		children = append(children, `{"grants":[{"effect":"ALLOW","action":"tool.call","resource":"http.request/POST/**"}]`+own+
			`,"program":{"kind":"PARALLEL","payload":{"calls":[`+call+","+call+`]}}}`)
	}
	id := newID(w)
	_, outcome := w.Do(ctx, Command{Name: "start", Key: id, In: in, Body: event.Start{Define: event.Define{
		ID: id, Name: fmt.Sprintf("family-%d", family), Budget: &event.Budget{Tokens: in.Limit},
		Program: program(`{"kind":"DELEGATE","payload":{"timeout_ms":20000,"handle":true,"children":[` + strings.Join(children, ",") + `]}}`),
		Grants: []permissions.Grant{
			{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/**"},
			{Effect: permissions.Allow, Action: "agent.delegate", Resource: "**"},
		},
	}}})
	if outcome != history.Failed {
		t.mu.Lock()
		t.open = append(t.open, id)
		t.mu.Unlock()
	}
}

// look reads an agent with its account, and forgets it when it is at rest.
func (t *Budgets) look(ctx context.Context, w *Worker, id string) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call("account", id, nil)
	agent, err := w.Client.Agent(ctx, id)
	if err == nil {
		call.From(agent.Node, agent.Index, 0)
	}
	w.SettleRead(call, err, agent.Accounts)
	if err == nil && client.Finished(agent) || codeIs(err) == "NOT_FOUND" {
		t.mu.Lock()
		t.open = slices.DeleteFunc(t.open, func(o string) bool { return o == id })
		t.mu.Unlock()
	}
}

// Finish waits until every agent is at rest.
func (t *Budgets) Finish(ctx context.Context, e *Env) error {
	return atRest(ctx, e, t.Name(), t.open, func(w *Worker, id string) { t.look(ctx, w, id) }, t)
}
