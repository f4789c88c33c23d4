package traffic

import (
	"context"
	"fmt"
	"sync"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

const (
	boxes  = 4  // mailboxes in use at a time
	listed = 30 // mailboxes that are read at each node in the end
)

// Append sends messages, no two alike, to a few agents at a time, which say again
// what they got. Workers read what was said, at any node.
type Append struct {
	mu    sync.Mutex // guards what follows
	boxes [boxes]string
	used  []string
	made  int64
}

// Name implements Workload.
func (*Append) Name() string { return model.Append }

// Setup implements Workload: mailboxes are made when they are needed.
func (*Append) Setup(context.Context, *Env) error { return nil }

// Work implements Workload.
func (a *Append) Work(ctx context.Context, w *Worker) {
	place, id, n := a.pick(w)
	switch {
	case id == "":
		a.open(ctx, w, place, n)
	case w.Dice.IntN(12) == 0:
		list(ctx, w, id, w.Nodes[w.Dice.IntN(len(w.Nodes))])
	default:
		said := value.AppendString(nil, fmt.Sprintf("append-%d", n))
		_, outcome := w.Do(ctx, Command{Name: "send", Key: id, Body: event.Send{Agent: id, Message: said}})
		if outcome == history.Failed {
			a.full(ctx, w, place, id)
		}
	}
}

func (a *Append) pick(w *Worker) (place int, id string, n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made++
	place = w.Dice.IntN(boxes)
	return place, a.boxes[place], a.made
}

// echo takes messages and says them again.
var echo = program(fmt.Sprintf(`{"kind":"LOOP","payload":{"max":%d,"do":{"kind":"SEQ","payload":{"steps":[
	{"kind":"LET","payload":{"name":"m","do":{"kind":"RECEIVE","payload":{}}}},
	{"kind":"EMIT","payload":{"value":"${m}"}}]}}}}`, model.Echoed))

// open starts an agent with a mailbox. Whoever is first puts it in its place.
func (a *Append) open(ctx context.Context, w *Worker, place int, n int64) {
	id := newID(w)
	_, outcome := w.Do(ctx, Command{Name: "open", Key: id, Body: event.Start{Define: event.Define{
		ID: id, Name: fmt.Sprintf("mailbox-%d", n), Mode: "service", Program: echo,
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "mailbox.receive"}},
	}}})
	if outcome != history.Ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.used = append(a.used, id)
	if a.boxes[place] == "" {
		a.boxes[place] = id
	}
}

// full gives a mailbox up when it takes no more.
func (a *Append) full(ctx context.Context, w *Worker, place int, id string) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call("get", id, nil)
	agent, err := w.Client.Agent(ctx, id)
	if err == nil {
		call.From(agent.Node, agent.Index, 0)
	}
	w.SettleRead(call, err, nil)
	if err != nil || agent.State == string(model.Active) && agent.Mailbox < 64 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.boxes[place] == id {
		a.boxes[place] = ""
	}
}

// list reads what an agent has said, at one node.
func list(ctx context.Context, w *Worker, id string, at Node) bool {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call("list", id, nil)
	var out model.ListOut
	q := api.LogQuery{Agent: id, Limit: api.MaxPageItems}
	page, err := w.Client.Log(ctx, q, client.Node(at.URL))
	call.From(page.Node, page.Index, 0) // the first page's: what follows is newer
	for ; err == nil; page, err = w.Client.Log(ctx, q, client.Node(at.URL)) {
		for _, r := range page.Records {
			if said, ok := emitted(&r); ok {
				out.Said = append(out.Said, said)
			}
		}
		if q.From = page.Next; len(page.Records) < q.Limit {
			break
		}
	}
	return w.SettleRead(call, err, out) == history.Ok
}

// Finish reads some mailboxes at every node.
func (a *Append) Finish(ctx context.Context, e *Env) error {
	w := e.worker(Load{Workload: a, Workers: 1}, 0)
	for i, n := range w.Dice.Perm(len(a.used)) {
		if i == listed {
			break
		}
		for _, at := range e.Nodes {
			if !list(ctx, w, a.used[n], at) {
				return fmt.Errorf("append: what agent %s has said cannot be read at %s in the end", a.used[n], at.ID)
			}
		}
	}
	return nil
}

// emitted is what an EMIT said.
func emitted(r *api.Record) (said string, ok bool) {
	if r.Kind != "EMITTED" {
		return "", false
	}
	body, err := history.Decode[struct {
		Value string `json:"value"`
	}](r.Body)
	return body.Value, err == nil
}
