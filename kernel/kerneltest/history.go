package kerneltest

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// History makes a random log: commands that are right and commands that are
// wrong, in sessions and sent again, results in time, late and twice, leaders
// that change, clocks that jump. Its kernel's limits are narrow, so that all of
// them are met.
type History struct {
	*Sim
	choose   Chooser
	ids      []string    // of agents that may be there
	calls    []tools.Key // every call ever requested
	sessions [][16]byte
	sent     []event.Event // commands that may be sent again
}

// narrow are the limits of a random history.
func narrow(c *config.Config) {
	c.MaxStepsPerTick, c.MaxCallsPerTick, c.WorkPerEvent, c.MaxWorkPerTick = 60, 6, 1000, 3000
	c.GlobalQueue, c.InstructionQueue, c.MaxOutbox = 8, 2, 3
	c.MaxValueBytes, c.MaxCheckpointBytes, c.MaxInternedBytes = 2048, 4096, 1500
	c.DefaultCallTimeoutMillis, c.MaxCallTimeoutMillis, c.CallGraceMillis = 1000, 5000, 100
	c.ResumableTTLMillis, c.RetentionMillis = 3000, 5000
	c.MaxSessions, c.SessionIdleMillis, c.SessionOpenMillis = 3, 5500, 2000
	c.MaxIdempotencyKeys, c.IdempotencyWindowMillis = 3, 3000
	c.SegmentBytes = 4096
}

// NewHistory boots the replicas of a random history, for at most so many
// agents.
func NewHistory(t TB, replicas int, agents uint32, choose Chooser) *History {
	h := &History{Sim: Unbooted(t, replicas, evaluator.Lookup), choose: choose}
	h.Node(event.KernelBooted, Config(narrow, func(c *config.Config) { c.MaxAgents = agents }))
	return h
}

// Run takes n random steps.
func (h *History) Run(n int) {
	h.T.Helper()
	for range n {
		h.Step()
	}
}

// Step lets some time pass and commits one random event.
func (h *History) Step() {
	h.T.Helper()
	h.Wall += h.passes()
	switch h.choose.Pick("event", 18) {
	case 0:
		h.command(event.AgentDefine, h.define())
	case 1, 2, 16:
		h.command(event.AgentStart, event.Start{Define: h.define(), Input: h.input(), Reason: h.reason()})
	case 3, 4, 5:
		h.trigger()
	case 6, 17:
		h.command(event.AgentKill, event.Kill{Agent: h.agent(), Reason: h.reason()})
	case 7, 8:
		h.submit()
	case 9, 10, 11:
		h.result()
	case 12:
		h.Dispatch(h.call())
	case 13:
		h.Pulse()
	case 14:
		h.retry()
	case 15:
		h.node()
	}
	h.calls = append(h.calls, h.Pending...)
	h.Pending = nil
}

func (h *History) passes() int64 {
	switch {
	case h.rarely("long time", 80):
		return 6100
	case h.rarely("some time", 25):
		return 1200
	}
	return [...]int64{0, 0, 0, 1, 5, 50, 100, -20}[h.choose.Pick("time", 8)]
}

// rarely is true once in n times.
func (h *History) rarely(what string, n int) bool { return h.choose.Pick(what, n) == n-1 }

// command commits a command, sometimes in a session or under a key.
func (h *History) command(kind event.Kind, body any) {
	e := event.Event{Kind: kind, Body: event.Encode(body), Principal: [...]string{"ann", "bob"}[h.choose.Pick("principal", 2)]}
	switch h.choose.Pick("identity", 6) {
	case 0, 1:
		e.Session = h.session()
	case 2:
		e.IdempotencyKey = [...]string{"k1", "k2", "k3", "k4"}[h.choose.Pick("key", 4)]
	}
	heavy := h.rarely("heavy", 12)
	if heavy { // the event's work is spent before a tick can run
		e.Principal = strings.Repeat("p", 70_000)
	}
	outcome := h.Apply(e)
	if e.Session.Present() || e.IdempotencyKey != "" {
		h.sent = append(h.sent, e)
	}
	if !outcome.Done() || outcome.Repeated || outcome.Agent == [16]byte{} {
		return
	}
	id := flows.FormatID(outcome.Agent)
	if kind == event.AgentDefine || kind == event.AgentStart {
		h.ids = append(h.ids, id)
	}
	if heavy && h.choose.Pick("at once", 2) == 0 { // … and the next event finds it queued
		h.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "suspend"})
	}
}

func (h *History) session() event.Session {
	fresh := len(h.sessions) == 0 || h.rarely("new session", 5)
	if fresh {
		offset := [...]int64{0, 0, 0, 0, -1500, 1500, -2500, 9000}[h.choose.Pick("minted", 8)]
		h.sessions = append(h.sessions, SessionAt(h.Wall+offset, byte(len(h.sessions)+1)))
	}
	which := h.sessions[len(h.sessions)-1]
	if !fresh {
		which = h.sessions[len(h.sessions)-1-h.choose.Pick("session", min(3, len(h.sessions)))]
	}
	at := event.Session{ID: which, Seq: 1 + uint64(h.choose.Pick("seq", 9))}
	at.Floor = 1 + uint64(h.choose.Pick("floor", int(min(at.Seq, 4))))
	switch {
	case h.rarely("far", 20):
		at.Seq += 255
	case h.rarely("malformed", 20):
		at.Floor = at.Seq + 1
	}
	return at
}

// retry commits an earlier command again, or another under its identity.
func (h *History) retry() {
	if len(h.sent) == 0 {
		h.Pulse()
		return
	}
	e := h.sent[len(h.sent)-1-h.choose.Pick("earlier", min(6, len(h.sent)))]
	e.Wall = 0
	if h.choose.Pick("changed", 4) == 0 {
		e.Kind, e.Body = event.AgentKill, event.Encode(event.Kill{Agent: h.agent()})
	}
	h.Apply(e)
}

func (h *History) define() event.Define {
	d := event.Define{
		Mode:    [...]string{"", "task", "service", "service"}[h.choose.Pick("mode", 4)],
		Grants:  h.grants(),
		Program: h.program(),
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
			d.Grants = []permissions.Grant{{Effect: permissions.Escalate, Action: "tool.call", Resource: "**"}}
		case 4:
			d.Program = JSON(h.T, `{"kind":"NONSENSE"}`)
		}
	}
	return d
}

func (h *History) grants() []permissions.Grant {
	switch h.choose.Pick("grants", 6) {
	case 0:
		return nil
	case 1:
		return []permissions.Grant{
			{Effect: permissions.Deny, Action: "tool.call", Resource: "echo"},
			{Effect: permissions.Allow, Action: "tool.*", Resource: "**", NotAfterMillis: h.Wall + 500},
		}
	}
	return AllowAll()
}

// programs are what random agents do. Each shows something that no other does.
var programs = [...]string{
	``,
	`{"kind":"LITERAL","payload":{"value":7}}`,
	`{"kind":"CALL","payload":{"tool":"echo","args":{"n":"${input}"}}}`,
	`{"kind":"CALL","payload":{"tool":"echo","handle":true,"timeout_ms":400}}`,
	`{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://h/x"}}}`,
	`{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":200}}}`,
	`{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":0}}}`,
	`{"kind":"CALL","payload":{"tool":"nothing"}}`,
	`{"kind":"FAIL","payload":{"message":"no","code":"MINE"}}`,
	`{"kind":"MAP","payload":{"over":"${range(90)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${i}"}}}}`,
	`{"kind":"MAP","payload":{"over":"${range(25)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${len(range(700))}"}}}}`,
	`{"kind":"MAP","payload":{"over":"${range(50)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${len(range(990))}"}}}}`,
	`{"kind":"MAP","payload":{"over":[1,2,3],"as":"i","do":{"kind":"CALL","payload":{"tool":"uuid.new"}}}}`,
	`{"kind":"MAP","payload":{"over":"${range(9)}","as":"i","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}}`,
	`{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"r","do":{"kind":"CALL","payload":{"tool":"random.int","args":{"min":1,"max":9}}}}},
		{"kind":"LET","payload":{"name":"e","do":{"kind":"CALL","payload":{"tool":"echo","args":"${r}"}}}},
		{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":100}}},
		{"kind":"RETURN","payload":{"value":["${r}","${e}","${env}","${agent.tick_seq}"]}}]}}`,
	`{"kind":"LITERAL","payload":{"value":"${\"x\"*5000}"}}`,
}

func (h *History) program() value.Raw {
	source := programs[h.choose.Pick("program", len(programs))]
	if source == "" {
		return nil
	}
	return JSON(h.T, source)
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

// agent names one that is there, most of the time.
func (h *History) agent() string {
	if len(h.ids) == 0 || h.rarely("unknown agent", 20) {
		return [...]string{AgentID(999), "", "x"}[h.choose.Pick("which unknown", 3)]
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
	body := event.Trigger{Agent: h.agent(), Trigger: word, Reason: h.reason()}
	if word == "spawn" || h.rarely("input beside", 20) {
		body.Input = h.input()
	}
	h.command(event.AgentTrigger, body)
}

func (h *History) submit() {
	body := event.Submit{Agent: h.agent(), Input: h.input()}
	if h.choose.Pick("own program", 2) == 0 {
		body.Program = h.program()
	}
	h.command(event.AgentSubmit, body)
}

// call names a call: mostly one that is pending, else one that was, seldom one
// that never was.
func (h *History) call() tools.Key {
	var pending []tools.Key
	st := h.State()
	st.Tools.All(func(c *tools.Call) bool {
		pending = append(pending, c.Key)
		return true
	})
	switch {
	case len(pending) > 0 && !h.rarely("old call", 4):
		return pending[h.choose.Pick("pending", len(pending))]
	case len(h.calls) > 0 && !h.rarely("unknown call", 4):
		return h.calls[len(h.calls)-1-h.choose.Pick("call", min(5, len(h.calls)))]
	}
	return tools.Key{Agent: uint32(h.choose.Pick("of agent", 20)), Tick: 1, Call: 1}
}

func (h *History) result() {
	key := h.call()
	r := event.Result{Agent: key.Agent, Tick: key.Tick, Call: key.Call, Message: "told", Millis: 3}
	switch h.choose.Pick("result", 8) {
	case 0:
		r.Code = "TOOL_UNREACHABLE"
	case 1:
		r.Code = "TOOL_FAILED"
	case 2:
		r.Code = [...]string{"", "KILLED", "INVALID_STATE", "INVARIANT_BREACH", "PERMISSION_DENIED"}[h.choose.Pick("code", 5)]
	case 3:
		r.OK, r.Value = true, value.Raw{0xff}
	case 4:
		r.OK, r.Value = true, value.AppendString(nil, strings.Repeat("x", 3000))
	default:
		r.OK, r.Value = true, Value(h.T, map[string]any{"n": 2})
	}
	h.Node(event.ToolResult, r)
}

func (h *History) node() {
	switch h.choose.Pick("node", 4) {
	case 0:
		h.Term++
		h.Node(event.LeaderStarted, event.Leader{Node: "n1", Term: h.Term})
	case 1:
		h.Node(event.Checkpoint, event.Compare{Index: 1, Values: []event.Voter{{Node: "n1", Chain: [32]byte{1}}}})
	case 2:
		h.Node(event.KernelBooted, Config())
	case 3:
		e := event.Event{Kind: event.AgentKill, Body: event.Encode(event.Kill{Agent: h.agent()})}
		if h.choose.Pick("quarantined session", 2) == 0 {
			e.Session = h.session()
		}
		h.Quarantine(e)
	}
}
