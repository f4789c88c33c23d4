package kerneltest

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func (h *History) start() {
	h.command(event.AgentStart, event.Start{Define: h.define(), Input: h.input(), Reason: h.reason()})
}

func (h *History) define() event.Define {
	d := event.Define{
		Mode:    [...]string{"", "task", "service", "service"}[h.choose.Pick("mode", 4)],
		Grants:  h.grants(),
		Program: h.program(3),
	}
	if h.rarely("with teardown", 5) {
		d.Teardown = JSON(h.T, teardowns[h.choose.Pick("teardown", len(teardowns))])
	}
	if h.rarely("with ttl", 8) {
		d.TTLMillis = [...]int64{600, 2500}[h.choose.Pick("ttl", 2)]
	}
	if !h.plain && h.rarely("with budget", 3) {
		d.Budget = h.budget()
	}
	if h.rarely("word", 10) {
		d.Evaluator, d.Teardown = Words, nil
		d.Program = value.AppendString(nil, [...]string{"breach", "panic", "forget", "forget", "x"}[h.choose.Pick("word", 5)])
	}
	if h.rarely("with a schema", 6) {
		d.Input = JSON(h.T, `{"type":["object","null"]}`)
	}
	if h.rarely("scripted", 4) {
		h.scripted(&d)
	}
	if h.choose.Pick("id", 2) == 0 {
		d.ID = h.NewID()
	}
	if h.choose.Pick("labels", 3) == 0 {
		d.Labels, d.Env = map[string]string{"team": "a"}, map[string]string{"k": "v"}
	}
	if h.rarely("spoiled", 8) {
		switch h.choose.Pick("what is spoiled", 5) {
		case 0:
			d.Evaluator = "std/2"
		case 1:
			d.ID = h.agent() // there already, or no id
		case 2:
			d.Mode = "job"
		case 3:
			d.Grants = []permissions.Grant{{Effect: permissions.Escalate, Action: "tool.call", Resource: "a/**/b"}}
		case 4:
			d.Program = JSON(h.T, `{"kind":"NONSENSE"}`)
		}
	}
	return d
}

// budget is a narrow one; now and then one that nobody may have.
func (h *History) budget() *event.Budget {
	return [...]*event.Budget{
		{Tokens: 100}, {Tokens: 100, USDMicros: 8}, {USDMicros: 20, WarnPercent: 20}, {WallMillis: 700}, {Tokens: 90, WallMillis: 2500}, {WarnPercent: 3},
	}[h.choose.Pick("budget", 6)]
}

// limits gives an account other limits.
func (h *History) limits() {
	cmd := event.SetBudget{Agent: h.holder(), Reason: h.reason()}
	tokens := [...]uint64{0, 40, 100, 150, 400}[h.choose.Pick("tokens", 5)]
	cmd.Tokens = &tokens
	switch h.choose.Pick("limit", 4) {
	case 0:
		micros := tokens / 4
		cmd.USDMicros = &micros
	case 1:
		wall := int64(tokens) * 10
		cmd.WallMillis = &wall
	case 2:
		warn := uint32(tokens / 2)
		cmd.WarnPercent = &warn
	}
	h.command(event.BudgetSet, cmd)
}

// holder names an agent that holds an account, most of the time.
func (h *History) holder() string {
	var found []string
	st := h.State()
	st.Budgets.All(func(a *budgets.Account) bool {
		found = append(found, IDOf(st.Agents.Get(a.Agent).Identity.ID))
		return true
	})
	if len(found) == 0 || h.rarely("holds none", 6) {
		return h.agent()
	}
	return found[len(found)-1-h.choose.Pick("holder", min(6, len(found)))]
}

func (h *History) grants() []permissions.Grant {
	escalate := permissions.Grant{Effect: permissions.Escalate, Action: "tool.call", Resource: "echo/**"}
	switch h.choose.Pick("grants", 8) {
	case 0:
		return nil
	case 1:
		return []permissions.Grant{
			{Effect: permissions.Deny, Action: "tool.call", Resource: "echo"},
			{Effect: permissions.Allow, Action: "tool.*", Resource: "**", NotAfterMillis: h.Wall + 500},
		}
	case 2:
		return append([]permissions.Grant{escalate}, Everything()...)
	case 3:
		escalate.Action, escalate.Resource = [...]string{"agent.delegate", "memory.*", "shared.write"}[h.choose.Pick("escalated", 3)], "**"
		return append([]permissions.Grant{escalate}, Everything()...)
	case 4: // its own memory, not its parent's, which a root agent has not anyway
		own := Everything()
		own[1].Resource = "self/**"
		return own
	}
	return Everything()
}

func (h *History) input() value.Raw {
	switch {
	case h.rarely("bad input", 20):
		return value.Raw{0xff}
	case h.rarely("input", 4):
		return Value(h.T, map[string]any{"n": 1})
	}
	return nil
}

func (h *History) reason() string {
	if h.rarely("bad reason", 20) {
		return "a\x00b"
	}
	return [...]string{"", "because"}[h.choose.Pick("reason", 2)]
}

// message is a small value; now and then one that is too large or none at all.
func (h *History) message() value.Raw {
	return [...]value.Raw{
		nil, value.AppendInt(nil, 5), Value(h.T, map[string]any{"to": "you"}), value.AppendString(nil, strings.Repeat("m", 50)), {0xff},
	}[h.choose.Pick("message", 5)]
}

// agentIn names an agent that is in a state, most of the time: children too.
func (h *History) agentIn(state lifecycle.State) string {
	if h.rarely("any agent", 5) {
		return h.agent()
	}
	var found []string
	st := h.State()
	for no := uint32(1); no <= st.Agents.Len(); no++ {
		if row := st.Agents.Get(no); row.Lifecycle.State == state {
			found = append(found, IDOf(row.Identity.ID))
		}
	}
	if len(found) == 0 {
		return h.agent()
	}
	return found[h.choose.Pick("found", len(found))]
}

// recover is what operators do with a fault.
func (h *History) recover() {
	id := h.agentIn(lifecycle.Faulted)
	switch h.choose.Pick("fault", 3) {
	case 0:
		h.command(event.AgentReclassify, event.Reclassify{Agent: id, Reason: [...]string{"", "the disk was full", "again"}[h.choose.Pick("why", 3)]})
	case 1:
		h.command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "abandon"})
	case 2:
		h.Command(event.AgentReclassify, event.Reclassify{Agent: id, Reason: "again"})
		h.command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "recover"})
	}
}

// decides settles an escalation that is open, or one that never was.
func (h *History) decides() {
	if st := h.State(); h.idle(st.Escalations.Len() > 0) {
		return
	}
	body := event.Decide{Escalation: uint64(h.choose.Pick("no escalation", 40)), Approve: h.choose.Pick("approve", 3) > 0, Reason: h.reason()}
	var open []uint64
	st := h.State()
	st.Escalations.All(func(e *permissions.Escalation) bool {
		open = append(open, e.ID)
		return true
	})
	if len(open) > 0 && !h.rarely("none of them", 10) {
		body.Escalation = open[h.choose.Pick("escalation", len(open))]
	}
	if len(open) > 0 && h.rarely("revoked before", 4) {
		h.revokesAbove(body.Escalation)
		body.Approve = true
	}
	h.command(event.EscalationDecide, body)
}

// revokesAbove takes a right from somebody on whom a request rests that waits
// for a decision: an approval is judged again (PE-3).
func (h *History) revokesAbove(escalation uint64) {
	st := h.State()
	e, ok := st.Escalations.Get(escalation)
	if !ok {
		return
	}
	row := st.Agents.Get(e.Agent)
	if above := st.Agents.Get(row.Delegation.Parent); above != nil {
		row = above
	}
	h.Command(event.GrantRevoke, event.RevokeGrant{Agent: IDOf(row.Identity.ID), Grant: uint32(h.choose.Pick("right", 5))})
}

// shares is an operator at shared memory.
func (h *History) shares() {
	namespace := [...]string{"team", "team", "solo", "te/am"}[h.choose.Pick("namespace", 4)]
	key := [...]string{"a", "b", "a/x", "a//x"}[h.choose.Pick("shared key", 4)]
	var version *uint64
	if h.choose.Pick("compare", 3) == 0 {
		version = new(uint64)
		st := h.State()
		if found := st.Memory.GetShared(namespace, key); found != nil && h.choose.Pick("right version", 2) == 0 {
			*version = found.Version
		}
	}
	if h.choose.Pick("put", 3) == 0 {
		h.command(event.SharedDelete, event.DeleteShared{Namespace: namespace, Key: key, Version: version})
		return
	}
	put := event.PutShared{Namespace: namespace, Key: key, Version: version, Value: h.message()}
	if len(put.Value) == 0 {
		put.Value = value.AppendInt(nil, 3)
	}
	h.command(event.SharedPut, put)
}

// agent names one that is there, most of the time.
func (h *History) agent() string {
	if len(h.ids) == 0 || h.rarely("unknown agent", 20) {
		return [...]string{AgentID(999), "", "x"}[h.choose.Pick("which unknown", 3)]
	}
	if h.rarely("some child", 4) {
		return h.agentIn([...]lifecycle.State{lifecycle.Waiting, lifecycle.Active, lifecycle.Resumable, lifecycle.Completing}[h.choose.Pick("state", 4)])
	}
	// One of the last: earlier ones have mostly ended.
	return h.ids[len(h.ids)-1-h.choose.Pick("agent", min(10, len(h.ids)))]
}

func (h *History) trigger() {
	words := [...]string{"spawn", "spawn", "activate", "activate", "suspend", "resume", "expire", "recover", "abandon", "jump"}
	word := words[h.choose.Pick("word", len(words))]
	if h.rarely("any word", 6) {
		word = lifecycle.Trigger(1 + h.choose.Pick("trigger", lifecycle.Triggers)).String()
	}
	state, ok := clients[word]
	if !ok || word == "suspend" && h.choose.Pick("waiting", 2) == 0 {
		state = lifecycle.Waiting
	}
	body := event.Trigger{Agent: h.agentIn(state), Trigger: word, Reason: h.reason()}
	if word == "suspend" || h.rarely("force beside", 20) {
		body.Force = h.choose.Pick("force", 2) == 0
	}
	if word == "spawn" || h.rarely("input beside", 20) {
		body.Input = h.input()
	}
	h.command(event.AgentTrigger, body)
}

func (h *History) submit() {
	body := event.Submit{Agent: h.agent(), Input: h.input()}
	if h.choose.Pick("own program", 2) == 0 {
		body.Program = h.instruction()
	}
	h.command(event.AgentSubmit, body)
}
