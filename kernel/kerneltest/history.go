package kerneltest

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
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
	plain    bool          // nothing that a Naive does not know
	onRuns   bool          // mostly about runs
	fixed    bool          // its kernel version stays what it is
	guarded  bool          // callers are judged
	tokens   []string      // … with these
}

// narrow are the limits of a random history.
func narrow(c *config.Config) {
	c.MaxStepsPerTick, c.MaxCallsPerTick, c.WorkPerEvent, c.MaxWorkPerTick = 60, 6, 1000, 3000
	c.GlobalQueue, c.InstructionQueue, c.MaxOutbox = 14, 2, 4
	c.MaxValueBytes, c.MaxCheckpointBytes, c.MaxInternedBytes = 4096, 6000, 12000
	c.DefaultCallTimeoutMillis, c.MaxCallTimeoutMillis, c.CallGraceMillis = 1000, 5000, 100
	c.ResumableTTLMillis, c.RetentionMillis = 3000, 5000
	c.MaxSessions, c.SessionIdleMillis, c.SessionOpenMillis = 3, 5500, 2000
	c.MaxIdempotencyKeys, c.IdempotencyWindowMillis = 3, 3000
	c.SegmentBytes = 4096
	c.MaxMemoryKeys, c.MaxMemoryBytes, c.MaxPersistentBytes = 2, 200, 350
	c.MaxSharedKeys, c.MaxSharedBytes = 4, 160
	c.MaxMailbox, c.MaxMailboxBytes = 2, 40
	c.MaxDepth, c.MaxChildren, c.MaxEscalations = 3, 2, 4
	c.MaxRetries, c.BackoffMillis, c.MaxBackoffMillis = 3, 200, 700
	c.MaxRuns, c.MaxTasks, c.MaxRunBytes = 60, 3, 2400
	c.MaxTools, c.MaxManifestBytes = 3, 300
	c.LogWarnBytes, c.LogErrorBytes = 6000, 20_000
	c.EscalationMillis, c.DelegationMillis, c.ReceiveMillis, c.MaxWaitMillis = 1500, 4000, 1800, 30_000
}

// NewHistory boots the replicas of a random history, for at most so many
// agents.
func NewHistory(t TB, replicas int, agents uint32, choose Chooser) *History {
	h := &History{Sim: Unbooted(t, replicas, Lookup), choose: choose}
	h.Node(event.KernelBooted, Config(narrow, func(c *config.Config) { c.MaxAgents = agents }, h.version))
	return h
}

// NewHistoryOf is a history at that kernel version from its beginning to its end.
func NewHistoryOf(t TB, version uint32, agents uint32, choose Chooser) *History {
	h := &History{Sim: Unbooted(t, 1, Lookup), choose: choose, fixed: true}
	h.Node(event.KernelBooted, Config(narrow, func(c *config.Config) {
		c.MaxAgents = agents
		*c = c.At(version)
	}))
	return h
}

// version is that of the history's beginning: half of them begin at an older one.
func (h *History) version(c *config.Config) {
	if h.choose.Pick("an older version", 2) == 1 {
		*c = c.At(1)
	}
}

// rises may commit that the kernel version rises, as nodes do, or as they never
// would.
func (h *History) rises() bool {
	at := h.State().Version()
	if h.fixed || !h.rarely("rises", 40) {
		return false
	}
	upgraded := event.Upgraded{Version: at + 1, LogWarnBytes: 3000, LogErrorBytes: 9000}
	switch h.choose.Pick("upgrade", 6) {
	case 0:
		upgraded.Version = at
	case 1:
		upgraded.LogWarnBytes = 0
	case 2:
		upgraded.LogErrorBytes = 10
	}
	if upgraded.Version > kernel.Version {
		return false
	}
	h.Node(event.KernelUpgraded, upgraded)
	return true
}

// NewModelled is a history whose every event a Naive takes in too. Its commands
// come in no session and under no key, nothing is quarantined, each event's
// work fits, and nobody holds a budget: of those the model knows nothing.
func NewModelled(t TB, agents uint32, choose Chooser) *History {
	h := &History{Sim: Unbooted(t, 1, Lookup), choose: choose, plain: true}
	h.Model = NewNaive(Lookup)
	h.Node(event.KernelBooted, Config(narrow, func(c *config.Config) {
		c.MaxAgents, c.WorkPerEvent, c.MaxInternedBytes = agents, 100_000, 1<<24
		c.MaxRunBytes = 10_000 // the model does not know how long the messages of failures are
		if choose.Pick("a narrow log", 2) == 1 {
			c.LogWarnBytes, c.LogErrorBytes = 1200, 2500
		}
	}, h.version))
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
	switch {
	case h.rises(), h.stops():
		return
	case h.guarded && h.rarely("who may", 4):
		h.guards()
	case h.onRuns && !h.rarely("something else", 4):
		h.stepRun()
	default:
		h.step()
	}
	h.calls = append(h.calls, h.Pending...)
	h.Pending = nil
}

func (h *History) step() {
	events := 37
	if h.plain {
		events = 35
	}
	switch h.choose.Pick("event", events) {
	case 0:
		h.command(event.AgentDefine, h.define())
	case 1, 2, 16:
		h.start()
	case 3, 4, 5:
		h.trigger()
	case 6, 17:
		h.command(event.AgentKill, event.Kill{Agent: h.agentIn(lifecycle.Waiting), Reason: h.reason()})
	case 7, 8:
		h.submit()
	case 9, 10, 11:
		h.result()
	case 12:
		h.dispatch()
	case 13:
		h.Pulse()
	case 14:
		h.retry()
	case 15:
		h.node()
	case 18, 19:
		h.command(event.AgentSend, event.Send{Agent: h.agentIn(lifecycle.Waiting), Message: h.message()})
	case 20, 21:
		h.recover()
	case 22:
		h.command(event.TokenRevoke, event.RevokeToken{Agent: h.agent(), Reason: h.reason()})
	case 23:
		h.command(event.GrantRevoke, event.RevokeGrant{Agent: h.agent(), Grant: uint32(h.choose.Pick("grant", 5)), Reason: h.reason()})
	case 24, 25, 26:
		h.decides()
	case 27:
		h.shares()
	case 28:
		h.fork()
	case 29, 30:
		h.planRun()
	case 31, 32:
		h.commandRun()
	case 33, 34:
		h.registers()
	case 35, 36:
		h.limits()
	}
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
	if h.guarded {
		e.Principal = h.caller()
	}
	identity := h.choose.Pick("identity", 6)
	if h.plain {
		identity = 5
	}
	switch identity {
	case 0, 1:
		e.Session = h.session()
	case 2:
		e.IdempotencyKey = [...]string{"k1", "k2", "k3", "k4"}[h.choose.Pick("key", 4)]
	}
	heavy := h.rarely("heavy", 12) && !h.plain
	if heavy { // the event's work is spent before a tick can run
		e.Principal = strings.Repeat("p", 70_000) // whom nobody knows, where that is judged
	}
	outcome := h.Apply(e)
	if e.Session.Present() || e.IdempotencyKey != "" {
		h.sent = append(h.sent, e)
	}
	if !outcome.Done() || outcome.Repeated || outcome.Agent == [16]byte{} {
		return
	}
	id := flows.FormatID(outcome.Agent)
	if kind == event.AgentDefine || kind == event.AgentStart || kind == event.AgentFork || kind == event.RunPlan {
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

// idle makes something happen where there is nothing to do, most of the time.
func (h *History) idle(something bool) bool {
	if something || h.rarely("nothing there", 6) {
		return false
	}
	h.start()
	return true
}

func (h *History) pending() bool {
	st := h.State()
	return st.Tools.Len() > 0
}

func (h *History) dispatch() {
	if !h.idle(h.pending()) {
		h.Dispatch(h.call())
	}
}

func (h *History) result() {
	if h.idle(h.pending()) {
		return
	}
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
		r.OK, r.Value = true, value.AppendString(nil, strings.Repeat("x", 5000))
	default:
		r.OK, r.Value = true, Value(h.T, map[string]any{"n": 2})
	}
	if h.choose.Pick("metered", 2) == 0 {
		r.Metered, r.Tokens = true, [...]uint64{0, 10, 30, 90}[h.choose.Pick("used", 4)]
		r.USDMicros = r.Tokens / 10
	}
	h.Node(event.ToolResult, r)
}

func (h *History) node() {
	which := h.choose.Pick("node", 6)
	if h.plain {
		which %= 4
	}
	switch which {
	case 0:
		h.Term++
		h.Node(event.LeaderStarted, event.Leader{Node: "n1", Term: h.Term})
	case 1:
		h.Node(event.Checkpoint, event.Compare{Index: 1, Values: []event.Voter{{Node: "n1", Chain: [32]byte{1}}}})
	case 2:
		version := h.State().Version()
		h.Node(event.KernelBooted, Config(func(c *config.Config) { *c = c.At(version) }))
	case 3:
		st := h.State()
		r := event.Restored{From: st.Config.ClusterID, Index: st.Log.LastIndex, Chain: st.Log.Chain}
		r.To = [...]string{"test", "other", "another"}[h.choose.Pick("restored as", 3)]
		if h.choose.Pick("another place", 4) == 0 {
			r.Index--
		}
		h.Node(event.ClusterRestored, r)
	case 4:
		e := event.Event{Kind: event.AgentKill, Body: event.Encode(event.Kill{Agent: h.agent()})}
		if h.choose.Pick("quarantined session", 2) == 0 {
			e.Session = h.session()
		}
		h.Quarantine(e)
	case 5:
		next := h.State().Log.NextSeq
		h.command(event.LogArchive, event.ArchiveLog{Before: next / 4 * uint64(h.choose.Pick("before", 6))})
	}
}
