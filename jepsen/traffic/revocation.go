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
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

const (
	grove  = 10 // trees that live at a time, about
	rounds = 6  // of calls of each agent of a tree
	burst  = 3  // calls at once
)

// Revocation grows trees of agents, three levels deep, that call the counting
// service again and again, and meanwhile takes tokens and grants away from any of
// them.
type Revocation struct {
	mu    sync.Mutex // guards what follows
	trees []*tree
	roots []string
	made  int64
	tags  int64
}

// tree is what is known of one.
type tree struct {
	root   string
	agents []string // known by a read
	left   int      // operations, until another is looked at
}

// Name implements Workload.
func (*Revocation) Name() string { return model.Revocation }

// Setup implements Workload.
func (*Revocation) Setup(_ context.Context, e *Env) error {
	if e.Service == "" {
		return errors.New("revocation: a run with it needs the counting service")
	}
	return nil
}

// Work implements Workload.
func (r *Revocation) Work(ctx context.Context, w *Worker) {
	root, agent, tag := r.pick(w)
	switch n := w.Dice.IntN(10); {
	case root == "":
		r.grow(ctx, w, tag)
	case agent == "" || n < 4:
		r.look(ctx, w, root)
	case n < 7:
		w.Do(ctx, Command{
			Name: "revoke token", Key: root, In: model.RevokeIn{Agent: agent}, Body: event.RevokeToken{Agent: agent, Reason: tag},
		})
	default:
		grant := uint32(w.Dice.UintN(3))
		w.Do(ctx, Command{
			Name: "revoke grant", Key: root, In: model.RevokeIn{Agent: agent, Grant: grant},
			Body: event.RevokeGrant{Agent: agent, Grant: grant, Reason: tag},
		})
	}
}

// pick chooses a tree and one of its agents; neither when it is time for another
// tree.
func (r *Revocation) pick(w *Worker) (root, agent, tag string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tags++
	tag = fmt.Sprintf("revocation-%d", r.tags)
	if len(r.trees) < grove {
		return "", "", tag
	}
	t := r.trees[w.Dice.IntN(len(r.trees))]
	if t.left--; t.left <= 0 {
		r.trees = slices.DeleteFunc(r.trees, func(o *tree) bool { return o == t })
	}
	if len(t.agents) > 0 {
		agent = t.agents[w.Dice.IntN(len(t.agents))]
	}
	return t.root, agent, tag
}

// grow starts a tree. Now and then what its first calls rest on is gone before any of
// them can be dispatched.
func (r *Revocation) grow(ctx context.Context, w *Worker, tag string) {
	r.mu.Lock()
	r.made++
	name := fmt.Sprintf("tree-%d", r.made)
	r.mu.Unlock()
	root := newID(w)
	commands := []Command{{Name: "grow", Key: root, Body: event.Start{Define: event.Define{
		ID: root, Name: name, Program: treeProgram(w.Service, name), Grants: treeGrants,
	}}}}
	if w.Dice.IntN(2) == 0 {
		commands = append(commands, Command{
			Name: "revoke grant", Key: root, In: model.RevokeIn{Agent: root}, Body: event.RevokeGrant{Agent: root, Reason: tag},
		})
	}
	if w.DoTogether(ctx, commands...)[0] == history.Failed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.roots = append(r.roots, root)
	r.trees = append(r.trees, &tree{root: root, left: 6 + w.Dice.IntN(6)})
}

// treeGrants are a root's, and but for the delegation every agent's below it. The
// second is for less than the first, so that revoking the first leaves some of it.
var treeGrants = []permissions.Grant{
	{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/**"},
	{Effect: permissions.Allow, Action: "tool.call", Resource: "http.request/POST/*/*/1/**"},
	{Effect: permissions.Allow, Action: "tool.call", Resource: "timer.sleep"},
	{Effect: permissions.Allow, Action: "agent.delegate", Resource: "**"},
}

// treeProgram: the root delegates to two, one of them to one more, and those two and
// the last call the service.
func treeProgram(service, name string) value.Raw {
	const grants = `[{"effect":"ALLOW","action":"tool.call","resource":"http.request/POST/**"},` +
		`{"effect":"ALLOW","action":"tool.call","resource":"http.request/POST/*/*/1/**"},` +
		`{"effect":"ALLOW","action":"tool.call","resource":"timer.sleep"}`
	calls := func(who string) string {
		var each []string
		for n := range burst {
			each = append(each, fmt.Sprintf(`{"tool":"http.request","timeout_ms":%d,"handle":true,
				"args":{"method":"POST","url":"%s/%s/%d/%s-${i}-%d","body":{}}}`,
				errandTimeout.Milliseconds(), service, name, n%2, who, n))
		}
		return fmt.Sprintf(`{"kind":"LOOP","payload":{"max":%d,"index":"i","do":{"kind":"SEQ","payload":{"steps":[
			{"kind":"PARALLEL","payload":{"calls":[%s]}},
			{"kind":"CALL","payload":{"tool":"timer.sleep","handle":true,"args":{"ms":30}}}]}}}}`,
			rounds, strings.Join(each, ","))
	}
	child := func(grants, program string) string {
		return `{"grants":` + grants + `],"program":` + program + `}`
	}
	delegate := func(children string) string {
		return `{"kind":"DELEGATE","payload":{"handle":true,"children":[` + children + `]}}`
	}
	last := child(grants, calls("c"))
	middle := `{"kind":"SEQ","payload":{"steps":[` + delegate(last) + `,` + calls("b") + `]}}`
	return program(delegate(child(grants, calls("a")) + `,` +
		child(grants+`,{"effect":"ALLOW","action":"agent.delegate","resource":"**"}`, middle)))
}

// look reads who belongs to a tree.
func (r *Revocation) look(ctx context.Context, w *Worker, root string) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call("tree", root, nil)
	page, err := w.Client.Tree(ctx, root, api.TreeQuery{})
	if err == nil {
		call.From(page.Node, page.Index, 0)
	}
	var out model.TreeOut
	for _, a := range page.Agents {
		out.Agents = append(out.Agents, a.AgentID)
	}
	if w.SettleRead(call, err, out) != history.Ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.trees {
		if t.root == root {
			t.agents = out.Agents
		}
	}
}

// young is how many trees may still be at work, with much to spare: one lives for
// seconds.
const young = 100

// Finish waits until every agent of the last trees is at rest.
func (r *Revocation) Finish(ctx context.Context, e *Env) error {
	r.roots = r.roots[max(0, len(r.roots)-young):]
	look := func(w *Worker, root string) { r.look(ctx, w, root) }
	if err := atRest(ctx, e, r.Name(), r.roots, look, r); err != nil {
		return err
	}
	for _, root := range r.roots {
		page, err := e.Client.Tree(ctx, root, api.TreeQuery{})
		if err != nil && codeIs(err) != "NOT_FOUND" {
			return fmt.Errorf("revocation: the tree of %s cannot be read in the end: %w", root, err)
		}
		for _, a := range page.Agents {
			if _, err := e.Client.Await(ctx, a.AgentID, client.Finished); err != nil {
				return fmt.Errorf("revocation: the agent %s does not come to rest: %w", a.AgentID, err)
			}
		}
	}
	return nil
}
