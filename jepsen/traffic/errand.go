package traffic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/client"
)

// errandTimeout is how long a call may take. After a failover a call that was
// dispatched is over that long, and the kernel's grace, after it began.
const errandTimeout = 1500 * time.Millisecond

// Errands starts agents that call the counting service, which must not be called
// twice for one call, and reads what they came to.
type Errands struct {
	mu   sync.Mutex // guards what follows
	open []string   // agents that nobody saw at rest
	made int64
}

// Name implements Workload.
func (*Errands) Name() string { return model.Errands }

// Setup implements Workload.
func (*Errands) Setup(_ context.Context, e *Env) error {
	if e.Service == "" {
		return errors.New("tool: a run with errands needs the counting service")
	}
	return nil
}

// Work implements Workload.
func (t *Errands) Work(ctx context.Context, w *Worker) {
	if id, open := t.some(w); w.Dice.IntN(100) < min(90, 30+open) && open > 0 {
		t.look(ctx, w, id)
		return
	}
	t.start(ctx, w)
}

// some picks an agent that is not known to be at rest, one of the older ones, and
// tells how many there are.
func (t *Errands) some(w *Worker) (id string, open int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 {
		return "", 0
	}
	return t.open[w.Dice.IntN(min(32, len(t.open)))], len(t.open)
}

var styles = [...]string{
	model.OneCall, model.OneCall, model.OneCall, model.TwoCalls, model.CallAgain, model.CallAgain, model.Unhandled,
}

func (t *Errands) start(ctx context.Context, w *Worker) {
	t.mu.Lock()
	t.made++
	site := fmt.Sprintf("errand-%d", t.made)
	t.mu.Unlock()
	in := model.ErrandIn{Style: styles[w.Dice.IntN(len(styles))], Sites: []string{site}, Idempotent: w.Dice.IntN(5) == 0}
	if in.Style == model.TwoCalls {
		in.Sites = append(in.Sites, site+"b")
	}
	id := newID(w)
	_, outcome := w.Do(ctx, Command{Name: "start", Key: id, In: in, Body: event.Start{Define: event.Define{
		ID: id, Name: site, Program: errandProgram(w.Service, in),
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/**"}},
	}}})
	if outcome != history.Failed {
		t.mu.Lock()
		t.open = append(t.open, id)
		t.mu.Unlock()
	}
}

// errandProgram is what the agent of an errand does.
func errandProgram(service string, in model.ErrandIn) value.Raw {
	call := func(site string, handled bool) string {
		return fmt.Sprintf(`{"tool":"http.request","timeout_ms":%d,"handle":%t,"args":{"method":"POST","url":%q,"body":{"site":%q},"idempotent":%t}}`,
			errandTimeout.Milliseconds(), handled, service+"/"+site, site, in.Idempotent)
	}
	one := func(site string, handled bool) string { return `{"kind":"CALL","payload":` + call(site, handled) + `}` }
	switch in.Style {
	case model.TwoCalls:
		return program(`{"kind":"PARALLEL","payload":{"calls":[` + call(in.Sites[0], true) + `,` + call(in.Sites[1], true) + `]}}`)
	case model.CallAgain:
		return program(`{"kind":"TRY","payload":{"do":` + one(in.Sites[0], false) +
			`,"catch":[{"codes":["OUTCOME_UNKNOWN","TOOL_TIMEOUT","TOOL_UNREACHABLE"],"do":` + one(in.Sites[0], true) + `}]}}`)
	case model.Unhandled:
		return program(one(in.Sites[0], false))
	}
	return program(one(in.Sites[0], true))
}

// look reads an agent, and forgets it when it is at rest.
func (t *Errands) look(ctx context.Context, w *Worker, id string) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call("result", id, nil)
	agent, err := w.Client.Agent(ctx, id)
	if err == nil {
		call.From(agent.Node, agent.Index, 0)
	}
	w.SettleRead(call, err, model.ErrandOut{State: model.State(agent.State), Result: jsonOf(agent.Result)})
	if err == nil && client.Finished(agent) || codeIs(err) == "NOT_FOUND" {
		t.mu.Lock()
		t.open = slices.DeleteFunc(t.open, func(o string) bool { return o == id })
		t.mu.Unlock()
	}
}

func jsonOf(v value.Raw) string {
	if len(v) == 0 {
		return ""
	}
	return string(v.AppendJSON(nil))
}

// Finish waits until every agent is at rest: all calls were answered, or their time
// is over.
func (t *Errands) Finish(ctx context.Context, e *Env) error {
	return atRest(ctx, e, t.Name(), t.open, func(w *Worker, id string) { t.look(ctx, w, id) }, t)
}

// rest is how long agents may take until they are at rest, after the heal: calls
// until their time is over, retries, and what is begun in between.
const rest = 60 * time.Second

// atRest waits until agents are at rest, and reads each of them once more.
func atRest(ctx context.Context, e *Env, name string, ids []string, look func(*Worker, string), workload Workload) error {
	w := e.worker(Load{Workload: workload, Workers: 1}, 0)
	ctx, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	for _, id := range slices.Clone(ids) {
		_, err := w.Client.Await(ctx, id, client.Finished)
		if err != nil && codeIs(err) != "NOT_FOUND" {
			return fmt.Errorf("%s: the agent %s does not come to rest within %s: %w", name, id, rest, err)
		}
		look(w, id)
	}
	return nil
}
