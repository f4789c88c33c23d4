package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// TestTranscripts tells the stories of testdata/*.txt. Each directive commits
// one event, and shows what it came to and every record of its block:
//
//	start agent=a [mode=service] [grants=…] [evaluator=…]   YAML: the program
//	define agent=a [mode=service] [grants=…]                YAML: the program, if any
//	submit agent=a                                  YAML: a program, if any
//	trigger agent=a do=suspend [reason=…] [force]
//	kill agent=a [reason=…]
//	send agent=a                                    YAML: the message
//	reclassify agent=a reason=…
//	revoke agent=a [grant=0] [reason=…]             a token, or one grant
//	decide approve=true [reason=…] [escalation=33]  the oldest escalation, or one
//	put namespace=n key=k [version=7]               YAML: the value
//	answer [agent=a]                                YAML: the result of the oldest call (of a)
//	fail code=TOOL_TIMEOUT [agent=a]                … or its failure
//	pass [ms=100] [days=30]                         time goes by, then a Pulse
//	agents                                          commits nothing: where each agent is
//
// grants: tools (the default), none, all, or ask (all, and echo wants a decision).
// Agents that other agents make go by the name they are given. Ids of agents are
// shown as their names.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		story := newStory(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return story.tell(t, d)
		})
		story.s.Check()
	})
}

type story struct {
	s     *kerneltest.Sim
	ids   map[string]string // of agents, by name
	names map[uint32]string
}

func newStory(t *testing.T) *story {
	return &story{s: kerneltest.NewWith(t, 2, lookupWords), ids: make(map[string]string), names: make(map[uint32]string)}
}

// told is what a directive says.
type told struct {
	agent, do, reason, code, mode, grants, evaluator, namespace, key string
	ms, days, grant, escalation, version                             int
	approve                                                          bool
}

func read(t *testing.T, d *datadriven.TestData) (a told) {
	for key, into := range map[string]*string{
		"agent": &a.agent, "do": &a.do, "reason": &a.reason, "code": &a.code, "mode": &a.mode, "grants": &a.grants,
		"evaluator": &a.evaluator, "namespace": &a.namespace, "key": &a.key,
	} {
		d.MaybeScanArgs(t, key, into)
	}
	for key, into := range map[string]*int{"ms": &a.ms, "days": &a.days, "grant": &a.grant, "escalation": &a.escalation, "version": &a.version} {
		d.MaybeScanArgs(t, key, into)
	}
	d.MaybeScanArgs(t, "approve", &a.approve)
	return a
}

func (st *story) tell(t *testing.T, d *datadriven.TestData) string {
	a := read(t, d)
	s, id := st.s, st.ids[a.agent]
	var outcome event.Outcome
	switch d.Cmd {
	case "define":
		outcome = s.Command(event.AgentDefine, st.define(t, d, a))
	case "start":
		outcome = s.Command(event.AgentStart, event.Start{Define: st.define(t, d, a)})
	case "submit":
		outcome = s.Command(event.AgentSubmit, event.Submit{Agent: id, Program: fromYAML(t, d.Input)})
	case "trigger":
		outcome = s.Command(event.AgentTrigger, event.Trigger{Agent: id, Trigger: a.do, Reason: a.reason, Force: d.HasArg("force")})
	case "kill":
		outcome = s.Command(event.AgentKill, event.Kill{Agent: id, Reason: a.reason})
	case "send":
		outcome = s.Command(event.AgentSend, event.Send{Agent: id, Message: fromYAML(t, d.Input)})
	case "reclassify":
		outcome = s.Command(event.AgentReclassify, event.Reclassify{Agent: id, Reason: a.reason})
	case "revoke":
		outcome = st.revoke(d, id, a)
	case "decide":
		outcome = st.decide(a)
	case "put":
		put := event.PutShared{Namespace: a.namespace, Key: a.key, Value: fromYAML(t, d.Input)}
		if version := uint64(a.version); d.HasArg("version") {
			put.Version = &version
		}
		outcome = s.Command(event.SharedPut, put)
	case "answer":
		st.first(a.agent)
		outcome = s.Answer(true, fromYAML(t, d.Input).ToGo())
	case "fail":
		st.first(a.agent)
		outcome = s.Answer(false, a.code)
	case "pass":
		s.Pass(int64(a.days)*24*3_600_000 + int64(a.ms))
	case "agents":
		return st.agents()
	default:
		d.Fatalf(t, "unknown directive %s", d.Cmd)
	}
	return st.show(outcome)
}

func (st *story) define(t *testing.T, d *datadriven.TestData, a told) event.Define {
	st.ids[a.agent] = st.s.NewID()
	grants := map[string][]permissions.Grant{
		"": allowAll, "tools": allowAll, "none": {}, "all": freely,
		"ask": append([]permissions.Grant{grant(permissions.Escalate, "echo")}, freely...),
	}
	return event.Define{
		ID: st.ids[a.agent], Name: a.agent, Mode: a.mode, Evaluator: a.evaluator, Grants: grants[a.grants], Program: fromYAML(t, d.Input),
	}
}

func (st *story) revoke(d *datadriven.TestData, id string, a told) event.Outcome {
	if d.HasArg("grant") {
		return st.s.Command(event.GrantRevoke, event.RevokeGrant{Agent: id, Grant: uint32(a.grant), Reason: a.reason})
	}
	return st.s.Command(event.TokenRevoke, event.RevokeToken{Agent: id, Reason: a.reason})
}

func (st *story) decide(a told) event.Outcome {
	body := event.Decide{Escalation: uint64(a.escalation), Approve: a.approve, Reason: a.reason}
	if body.Escalation == 0 {
		body.Escalation = st.s.Escalation()
	}
	return st.s.Apply(event.Event{Kind: event.EscalationDecide, Principal: "ann", Body: event.Encode(body)})
}

// first puts the oldest call of an agent before all others.
func (st *story) first(name string) {
	for i, key := range st.s.Pending {
		if st.names[key.Agent] == name {
			pending := slices.Delete(slices.Clone(st.s.Pending), i, i+1)
			st.s.Pending = append([]tools.Key{key}, pending...)
			return
		}
	}
}

func (st *story) show(outcome event.Outcome) string {
	st.learnNames()
	var b strings.Builder
	if outcome.Index != 0 {
		fmt.Fprintf(&b, "%s\n", kerneltest.ShowOutcome(outcome))
	}
	for _, r := range st.s.Last() {
		fmt.Fprintf(&b, "%s\n", kerneltest.Show(r, st.names))
	}
	return st.named(b.String())
}

// learnNames takes in agents that came into being.
func (st *story) learnNames() {
	state := st.s.State()
	for no := uint32(len(st.names) + 1); no <= state.Agents.Len(); no++ {
		id := &state.Agents.Get(no).Identity
		st.names[no] = id.Name
		if id.Name == "" {
			st.names[no] = fmt.Sprintf("agent%d", no)
		}
		st.ids[st.names[no]] = kerneltest.IDOf(id.ID)
	}
}

// named writes agents' names for their ids.
func (st *story) named(text string) string {
	for no := uint32(1); no <= uint32(len(st.names)); no++ {
		text = strings.ReplaceAll(text, st.ids[st.names[no]], st.names[no])
	}
	return text
}

func (st *story) agents() string {
	var b strings.Builder
	for no := uint32(1); no <= uint32(len(st.names)); no++ {
		name := st.names[no]
		row := st.s.Row(st.ids[name])
		fmt.Fprintf(&b, "%s %s", name, row.Lifecycle.State)
		if row.Lifecycle.State == lifecycle.Faulted {
			fmt.Fprintf(&b, " (%s)", row.Lifecycle.Fault)
		}
		switch result := row.Execution.Result; {
		case result == nil:
		case result.OK:
			fmt.Fprintf(&b, ", tick %d gave %s", result.Tick, result.Value.AppendJSON(nil))
		case result.Tick == 0:
			fmt.Fprintf(&b, ", ended between ticks: %s", result.Code)
		default:
			fmt.Fprintf(&b, ", tick %d failed: %s", result.Tick, result.Code)
		}
		b.WriteByte('\n')
	}
	return st.named(b.String())
}

func fromYAML(t *testing.T, src string) value.Raw {
	if src == "" {
		return nil
	}
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(src), &v))
	raw, problem := value.FromGo(v)
	require.Nil(t, problem)
	return raw
}
