package recordjson

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Every kind of record is rendered with names of the API's style. Whoever adds
// a kind adds a sample here and a rendering in bodies.go.
func TestEveryKindIsRendered(t *testing.T) {
	all := samples()
	for kind := range bus.Kind(bus.Last + 1) {
		name := kernel.KindName(kind)
		if name == kernel.KindName(0) {
			continue
		}
		body, ok := all[kind]
		if !assert.True(t, ok, "%s has no sample", name) {
			continue
		}
		r := renderOne(t, kind, body)
		assert.Equal(t, name, r.Kind)
		var rendered map[string]any
		require.NoError(t, json.Unmarshal(r.Body, &rendered), "%s: %s", name, r.Body)
		eachKey(rendered, func(key string) { assert.Regexp(t, snakeCase, key, "%s: %s", name, r.Body) })
		if _, empty := body.(execution.Empty); !empty {
			assert.NotEmpty(t, rendered, name)
		}
	}
}

// eachKey visits the keys of all maps inside each other.
func eachKey(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for key, inside := range v {
			visit(key)
			eachKey(inside, visit)
		}
	case []any:
		for _, inside := range v {
			eachKey(inside, visit)
		}
	}
}

const agentOne = "01000000-0000-0000-0000-000000000000"

// Records name agents by their UUIDs, and an access to memory has a name of its
// own, which is part of the API.
func TestRecordsNameAgents(t *testing.T) {
	for kind, body := range samples() {
		for _, field := range []string{"parent_id", "first_id", "at_id", "level_id", "handler_id", "root_id", "above_id", "account_id"} {
			var got map[string]any
			require.NoError(t, json.Unmarshal(renderOne(t, kind, body).Body, &got))
			if id, there := got[field]; there {
				assert.Equal(t, agentOne, id, "%s %s", kernel.KindName(kind), field)
			}
		}
	}
	own := &memory.Access{Op: memory.OpRead, Scope: memory.ScopePersistent, Owner: 1, Key: "k", Call: 1, Run: 1}
	assert.JSONEq(t, `{"op":"read","scope":"PERSISTENT","owner_id":"`+agentOne+`","key":"k","found":false,"version":0,"call":1,"run":1,
		"tx_id":"0bd36411-873d-5e88-8d95-3dd6566f663c"}`, string(renderOne(t, bus.MemoryAccess, own).Body))
}

// renderOne renders a block of one record of agent 1.
func renderOne(t *testing.T, kind bus.Kind, body bus.Body) *api.Record {
	t.Helper()
	var b logging.Builder
	b.Begin(1, 1, 1, 1000)
	b.Touch(1, 0, [32]byte{})
	b.Open(logging.Header{Kind: uint16(kind), Agent: 1, Tick: 1})
	b.Buf = body.AppendTo(b.Buf)
	b.Close()
	raw, _ := b.Seal([32]byte{})
	block, err := logging.Decode(raw)
	require.NoError(t, err)
	var got *api.Record
	s := state.New("default")
	_, row := s.Agents.Append()
	row.Identity.ID = identity.ID{1}
	require.NoError(t, New(nil).Block(s, &block, new(Select), func(r *api.Record) bool {
		got = r
		return true
	}))
	require.NotNil(t, got)
	return got
}

// Every kind of event shows its body, and no secret of the cluster: the seed
// has no name in JSON.
func TestEveryEventIsRendered(t *testing.T) {
	c := config.Default()
	c.Seed = [16]byte{1, 2, 3}
	for kind, body := range map[event.Kind]any{
		event.KernelBooted: &c, event.LeaderStarted: &event.Leader{Node: "n1", Term: 2},
		event.ClusterRestored: &event.Restored{From: "old", To: "new", Index: 7},
		event.KernelUpgraded:  &event.Upgraded{Version: 2, LogWarnBytes: 10, LogErrorBytes: 20},
		event.Checkpoint:      &event.Compare{Index: 4, Values: []event.Voter{{Node: "n1"}}},
		event.AgentDefine:     &event.Define{Name: "a"}, event.AgentStart: &event.Start{Reason: "r"},
		event.AgentTrigger: &event.Trigger{Trigger: "spawn"}, event.AgentKill: &event.Kill{Agent: "a"}, event.AgentSubmit: &event.Submit{Agent: "a"},
		event.AgentSend: &event.Send{Agent: "a", Message: value.True}, event.AgentReclassify: &event.Reclassify{Agent: "a", Reason: "r"},
		event.TokenRevoke: &event.RevokeToken{Agent: "a"}, event.GrantRevoke: &event.RevokeGrant{Agent: "a", Grant: 1},
		event.EscalationDecide: &event.Decide{Escalation: 7, Approve: true},
		event.TaskAnswer:       &event.AnswerTask{Agent: "a", Tick: 1, Call: 1, Result: value.True},
		event.SharedPut:        &event.PutShared{Namespace: "n", Key: "k", Value: value.True}, event.SharedDelete: &event.DeleteShared{Namespace: "n", Key: "k"},
		event.AuthBootstrap: &event.BootstrapAuth{Credential: "abcdefgh"}, event.PrincipalPut: &event.PutPrincipal{Name: "ann"}, event.PrincipalDelete: &event.DeletePrincipal{Name: "ann"},
		event.RolePut: &event.PutRole{Name: "quiet"}, event.RoleDelete: &event.DeleteRole{Name: "quiet"},
		event.CredentialPut: &event.PutCredential{ID: "abcdefgh", Hash: [32]byte{1}}, event.CredentialRevoke: &event.RevokeCredential{ID: "abcdefgh"},
		event.OperatorOrder:  &event.Order{Action: "node.pause", Resource: "n1"},
		event.AgentFork:      &event.Fork{Source: "a", At: 7, Set: []event.ForkSet{{Key: "k", Value: value.True}}},
		event.ToolDispatched: &event.Dispatched{Call: 1}, event.ToolResult: &event.Result{Call: 1, OK: true, Value: value.True},
	} {
		e := &event.Event{Kind: kind, Principal: "client", Session: event.Session{ID: [16]byte{9}, Seq: 3, Floor: 2}, Body: event.Encode(body)}
		var got struct {
			Event    string         `json:"event"`
			Session  string         `json:"session"`
			Sequence uint64         `json:"sequence"`
			Floor    uint64         `json:"floor"`
			Body     map[string]any `json:"body"`
		}
		require.NoError(t, json.Unmarshal(renderOne(t, bus.Event, &event.Recorded{Event: e}).Body, &got))
		assert.Equal(t, kind.String(), got.Event)
		assert.Len(t, got.Session, 32)
		assert.Equal(t, uint64(3), got.Sequence)
		assert.Equal(t, uint64(2), got.Floor)
		assert.NotEmpty(t, got.Body, kind.String())
		assert.NotContains(t, got.Body, "seed")
		assert.NotContains(t, got.Body, "hash")
		for key := range got.Body {
			assert.Regexp(t, snakeCase, key)
		}
	}
}

// The kinds that the renderer gives to instructions are those that the
// evaluator numbers so.
func TestInstructionKindsAreTheEvaluators(t *testing.T) {
	src := `{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"a","do":{"kind":"LITERAL","payload":{"value":[1,2]}}}},
		{"kind":"LET","payload":{"name":"steps","value":[{"kind":"FAIL"}]}},
		{"kind":"BRANCH","payload":{"if":"${len(a) == 2}",
			"then":{"kind":"MAP","payload":{"over":"${a}","as":"x","do":{"kind":"SEQ","payload":{"steps":[
				{"kind":"LITERAL","payload":{"value":"${x}"}},
				{"kind":"BRANCH","payload":{"if":false,"then":{"kind":"FAIL","payload":{"message":"no"}},"else":{"kind":"LITERAL","payload":{"value":1}}}}]}}}},
			"else":{"kind":"FAIL","payload":{"message":"no"}}}},
		{"kind":"LOOP","payload":{"max":2,"do":{"kind":"TRY","payload":{
			"catch":[{"codes":["NO"],"do":{"kind":"LITERAL","payload":{"value":1}}},{"do":{"kind":"EMIT","payload":{"value":2}}}],
			"do":{"kind":"FAIL","payload":{"message":"caught"}}}}}},
		{"kind":"BRANCH","payload":{"if":false,"then":{"kind":"DELEGATE","payload":{
			"children":[{"program":{"kind":"SEQ","payload":{"steps":[{"kind":"LITERAL","payload":{"value":1}}]}}}],
			"on_escalation":{"as":"e","do":{"kind":"LITERAL","payload":{"value":true}}}}},
			"else":{"kind":"EMIT","payload":{"value":"here"}}}},
		{"kind":"RETURN","payload":{"do":{"kind":"LITERAL","payload":{"value":{"kind":"CALL"}}}}}]}}`
	raw, problem := value.FromJSON([]byte(src), 1<<16)
	require.Nil(t, problem)
	std, _ := registry.Lookup("std/1")
	program, refusal := std.Compile(raw)
	require.Nil(t, refusal, "%+v", refusal)
	kinds := instructionKinds(nil, raw, 0)
	assert.Len(t, kinds, 23)

	seen := map[uint32]bool{}
	tick := program.Start(evaluator.Context{})
	for range 100 {
		at := tick.At()
		require.Less(t, int(at.Node), len(kinds))
		assert.Equal(t, at.Kind, kinds[at.Node], "instruction %d", at.Node)
		seen[at.Node] = true
		if result := tick.Step(); result.Kind != evaluator.NextInstruction {
			require.Equal(t, evaluator.PureValue, result.Kind, "%+v", result.Failure)
			break
		}
	}
	assert.Greater(t, len(seen), 15, "the program runs through most of itself")
}

// A program that is nested without end, which no evaluator would have taken,
// does not end the renderer.
func TestInstructionKindsAreBounded(t *testing.T) {
	nested := value.EmptyMap
	for range 60 {
		inner := value.AppendMapHeader(nil, 2)
		inner = value.AppendString(inner, "kind")
		inner = value.AppendString(inner, "RETURN")
		inner = value.AppendString(inner, "payload")
		inner = value.AppendMapHeader(inner, 1)
		inner = value.AppendString(inner, "do")
		nested = append(inner, nested...)
	}
	assert.Len(t, instructionKinds(nil, nested, 0), 60)
	assert.Empty(t, instructionKinds(nil, value.Null, 0))
}

func TestSpansAreDeterministic(t *testing.T) {
	a, b := identity.ID{1}, identity.ID{2}
	ids := map[string]bool{}
	for _, id := range []string{span(a, 0, 0), span(a, 1, 0), span(a, 1, 1), span(a, 1, 2), span(a, 2, 1), span(b, 1, 1)} {
		assert.Regexp(t, `^[0-9a-f]{16}$`, id)
		ids[id] = true
	}
	assert.Len(t, ids, 6)
	assert.Equal(t, "4fa55c91ccc952e3", span(identity.ID{0x01, 0x8f, 0x4e, 0x5c, 0, 0, 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0x0a}, 1, 1), "part of the API")
}
