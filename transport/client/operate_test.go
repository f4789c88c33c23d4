package client_test

import (
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// says checks which error a server sent.
func says(t *testing.T, err error, code, field string) *api.Error {
	t.Helper()
	var said *api.Error
	require.True(t, errors.As(err, &said), "%v", err)
	assert.Equal(t, code, said.Code)
	assert.Equal(t, field, said.Field)
	return said
}

func allow(action, resource string) permissions.Grant {
	return permissions.Grant{Effect: permissions.Allow, Action: action, Resource: resource}
}

func escalate(action, resource string) permissions.Grant {
	return permissions.Grant{Effect: permissions.Escalate, Action: action, Resource: resource}
}

func start(t *testing.T, c *client.Client, src string, grants ...permissions.Grant) string {
	t.Helper()
	done, err := c.Start(within(t, 10*time.Second), event.Start{Define: event.Define{Program: program(t, src), Grants: grants}})
	require.NoError(t, err)
	return done.AgentID
}

// ME-1: operators and agents share a memory whose versions are never reused;
// compare-and-set keeps one from overwriting what it has not seen.
func TestSharedMemory(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	absent, first := uint64(0), uint64(0)
	put := event.PutShared{Namespace: "team", Key: "orders/1", Value: program(t, `{"open":true}`), Version: &absent}
	done, err := c.PutShared(ctx, put)
	require.NoError(t, err)
	assert.Empty(t, done.AgentID, "it is nobody's")
	assert.Empty(t, done.State)
	first = done.Version
	got, err := c.SharedValue(ctx, "team", "orders/1")
	require.NoError(t, err)
	assert.Equal(t, first, got.Version, "the answer named the version that it made")
	assert.JSONEq(t, `{"open":true}`, string(got.Value.AppendJSON(nil)))
	assert.Empty(t, got.WriterID, "an operator")

	_, err = c.PutShared(ctx, put)
	said := says(t, err, "VERSION_CONFLICT", "version")
	assert.Contains(t, said.Rule, strconv.FormatUint(first, 10))
	assert.True(t, said.Definite)
	agent := start(t, c, `{"kind":"SHARE","payload":{"namespace":"team","key":"orders/1","value":[],"version":`+strconv.FormatUint(first, 10)+`}}`,
		allow("shared.write", "team/**"))
	got, err = c.SharedValue(ctx, "team", "orders/1")
	require.NoError(t, err)
	assert.Equal(t, agent, got.WriterID)
	assert.Greater(t, got.Version, first)

	put.Key, put.Version = "orders", nil
	_, err = c.PutShared(ctx, put)
	require.NoError(t, err)
	page, err := c.SharedKeys(ctx, "team", api.MemoryQuery{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, "orders", page.Next)
	page, err = c.SharedKeys(ctx, "team", api.MemoryQuery{After: page.Next})
	require.NoError(t, err)
	require.Len(t, page.Keys, 1)
	assert.Equal(t, "orders/1", page.Keys[0].Key)
	assert.Equal(t, got.Version, page.Keys[0].Version)
	assert.Empty(t, page.Next)
	page, err = c.SharedKeys(ctx, "team", api.MemoryQuery{Prefix: "orders"})
	require.NoError(t, err)
	assert.Len(t, page.Keys, 1, "a prefix is segments: orders itself is not below orders")

	_, err = c.DeleteShared(ctx, event.DeleteShared{Namespace: "team", Key: "orders/1", Version: &first})
	says(t, err, "VERSION_CONFLICT", "version")
	_, err = c.DeleteShared(ctx, event.DeleteShared{Namespace: "team", Key: "orders/1"})
	require.NoError(t, err)
	_, err = c.SharedValue(ctx, "team", "orders/1")
	assert.NotZero(t, says(t, err, "NOT_FOUND", "key").Index, "as of when")
	_, err = c.DeleteShared(ctx, event.DeleteShared{Namespace: "team", Key: "orders/1"})
	says(t, err, "NOT_FOUND", "key")
}

// What an agent remembers outlives its ticks, and operators can see it.
func TestAgentMemory(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	agent := start(t, c, `{"kind":"SEQ","payload":{"steps":[
		{"kind":"WRITE","payload":{"key":"notes/1","value":"one"}},{"kind":"WRITE","payload":{"key":"notes/2","value":2}}]}}`,
		allow("memory.write", "self/**"))
	page, err := c.MemoryKeys(ctx, agent, api.MemoryQuery{Prefix: "notes", Limit: 1})
	require.NoError(t, err)
	require.Len(t, page.Keys, 1)
	assert.Equal(t, "notes/1", page.Next)
	got, err := c.MemoryValue(ctx, agent, "notes/2")
	require.NoError(t, err)
	assert.Equal(t, "2", string(got.Value.AppendJSON(nil)))
	assert.Equal(t, agent, got.AgentID)
	assert.Equal(t, agent, got.WriterID)
	a, err := c.Agent(ctx, agent)
	require.NoError(t, err)
	assert.Equal(t, &api.MemorySize{Keys: 2, Bytes: 2*7 + 4 + 1}, a.Memory)
	_, err = c.MemoryValue(ctx, agent, "notes/3")
	says(t, err, "NOT_FOUND", "key")
	_, err = c.MemoryValue(ctx, agent, "notes/")
	says(t, err, "INVALID_ARGUMENT", "key")
}

// RECEIVE waits for a message, and the agent says so.
func TestMessages(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	agent := start(t, c, `{"kind":"RECEIVE"}`, allow("tool.call", "mailbox.receive"))
	a, err := c.Agent(ctx, agent)
	require.NoError(t, err)
	require.Len(t, a.Waits, 1)
	assert.Equal(t, "message", a.Waits[0].For)
	assert.Greater(t, a.Waits[0].Deadline, a.DefinedAt)
	done, err := c.Send(ctx, event.Send{Agent: agent, Message: program(t, `{"n":7}`)})
	require.NoError(t, err)
	assert.Equal(t, agent, done.AgentID)
	a, err = c.Await(ctx, agent, client.Finished)
	require.NoError(t, err)
	assert.JSONEq(t, `{"n":7}`, string(a.Result.AppendJSON(nil)))
	assert.Empty(t, a.Waits)
	_, err = c.Send(ctx, event.Send{Agent: agent})
	says(t, err, "INVALID_STATE", "agent")
}

// delegating starts a parent with one child that asks for an escalated call.
func delegating(t *testing.T, c *client.Client) (parent, child string) {
	t.Helper()
	parent = start(t, c, `{"kind":"DELEGATE","payload":{"children":[{"name":"caller","program":{"kind":"CALL","payload":{"tool":"echo","args":1}},
		"grants":[{"effect":"ALLOW","action":"tool.call","resource":"echo"}]}]}}`, allow("agent.delegate", "**"), allow("tool.call", "**"), escalate("tool.call", "echo"))
	tree, err := c.Tree(within(t, 10*time.Second), parent, api.TreeQuery{})
	require.NoError(t, err)
	require.Len(t, tree.Agents, 2)
	assert.Equal(t, []string{parent, ""}, []string{tree.Agents[0].AgentID, tree.Agents[0].ParentID})
	assert.Equal(t, []string{parent, "caller"}, []string{tree.Agents[1].ParentID, tree.Agents[1].Name})
	assert.Equal(t, uint32(1), tree.Agents[1].Level)
	return parent, tree.Agents[1].AgentID
}

// PE-3: what a grant above the agent escalates waits for an operator, who sees
// what is asked for and why, and decides.
func TestEscalations(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	parent, child := delegating(t, c)
	page, err := c.Escalations(ctx, api.EscalationQuery{})
	require.NoError(t, err)
	require.Len(t, page.Escalations, 1)
	open := page.Escalations[0]
	assert.Equal(t, child, open.AgentID)
	assert.Equal(t, parent, open.LevelID, "the parent's grant escalates")
	assert.Equal(t, permissions.Escalate, open.Grant.Effect)
	assert.Equal(t, "1", string(open.Args.AppendJSON(nil)))
	a, err := c.Agent(ctx, child)
	require.NoError(t, err)
	assert.Equal(t, []api.Wait{{For: "escalation", Call: 1, Tool: "echo", Deadline: open.Deadline, Escalation: open.Escalation}}, a.Waits)
	a, err = c.Agent(ctx, parent)
	require.NoError(t, err)
	require.Len(t, a.Waits, 1)
	assert.Equal(t, "children", a.Waits[0].For)
	assert.Equal(t, uint32(1), a.Waits[0].Open)

	_, err = c.Escalations(ctx, api.EscalationQuery{Agent: "018f4e5c-0000-7000-8000-0000000000ff"})
	says(t, err, "NOT_FOUND", "agent")
	page, err = c.Escalations(ctx, api.EscalationQuery{Agent: parent})
	require.NoError(t, err)
	assert.Empty(t, page.Escalations)
	done, err := c.Decide(ctx, event.Decide{Escalation: open.Escalation, Approve: true, Reason: "fine"})
	require.NoError(t, err)
	assert.Equal(t, child, done.AgentID)
	a, err = c.Agent(ctx, child)
	require.NoError(t, err)
	require.Len(t, a.Waits, 1)
	assert.Equal(t, "call", a.Waits[0].For, "it was let through")
	_, err = c.Decide(ctx, event.Decide{Escalation: open.Escalation})
	says(t, err, "STALE_RESULT", "escalation")
	_, err = c.Escalation(ctx, open.Escalation)
	says(t, err, "NOT_FOUND", "escalation")
}

// PE-2: why is told level by level, and the strictest level decides.
func TestExplain(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	parent, child := delegating(t, c)
	x, err := c.Explain(ctx, child, "tool.call", "echo")
	require.NoError(t, err)
	assert.Equal(t, "ESCALATE", x.Verdict)
	assert.Equal(t, "grant 2 of the grants of agent "+parent+", 1 above it decides: ESCALATE tool.call on echo", x.Reason)
	require.Len(t, x.Levels, 2)
	assert.Equal(t, []string{"ALLOW", "ESCALATE"}, []string{x.Levels[0].Verdict, x.Levels[1].Verdict})
	assert.Equal(t, []bool{false, true}, []bool{x.Levels[0].Decides, x.Levels[1].Decides})
	require.Len(t, x.Levels[1].Considered, 2)
	assert.Equal(t, uint32(2), x.Levels[1].Considered[0].Position, "in the order in which they decide")

	x, err = c.Explain(ctx, child, "shared.read", "team/a")
	require.NoError(t, err)
	assert.Equal(t, "DENY", x.Verdict)
	assert.Equal(t, "none of the agent's own grants speaks of this action, and what no grant allows is denied", x.Reason)
	x, err = c.Explain(ctx, child, "tool.call", "clock.now")
	require.NoError(t, err)
	assert.Equal(t, "none of the agent's own grants matches this resource, and what no grant allows is denied", x.Reason)
	_, err = c.Explain(ctx, child, "tool.*", "echo")
	says(t, err, "INVALID_ARGUMENT", "action")
	_, err = c.Explain(ctx, child, "Tool.Call", "echo")
	says(t, err, "INVALID_ARGUMENT", "action")

	// A grant that is taken back says nothing any more, to nobody below.
	_, err = c.RevokeGrant(ctx, event.RevokeGrant{Agent: parent, Grant: 1, Reason: "enough"})
	require.NoError(t, err)
	x, err = c.Explain(ctx, child, "tool.call", "clock.now")
	require.NoError(t, err)
	assert.Equal(t, "DENY", x.Levels[1].Verdict)
	require.Len(t, x.Levels[1].Considered, 2)
	assert.True(t, x.Levels[1].Considered[1].Expired)
	assert.True(t, x.Levels[1].Considered[1].Matched)
	x, err = c.Explain(ctx, parent, "tool.call", "clock.now")
	require.NoError(t, err)
	assert.Equal(t, "those of the agent's own grants that match are not in force any more, and what no grant allows is denied", x.Reason)
	_, err = c.RevokeGrant(ctx, event.RevokeGrant{Agent: parent, Grant: 2})
	says(t, err, "INVALID_ARGUMENT", "grants[2].effect")
	_, err = c.RevokeGrant(ctx, event.RevokeGrant{Agent: parent, Grant: 9})
	says(t, err, "INVALID_ARGUMENT", "grant")
}

// LC-10: a token can be named by its own id; with it goes everything below.
func TestTokens(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	parent, child := delegating(t, c)
	held, err := c.Token(ctx, child)
	require.NoError(t, err)
	assert.Equal(t, parent, held.ParentID)
	assert.Empty(t, held.Revoked)
	assert.Equal(t, []permissions.Grant{allow("tool.call", "echo")}, held.Grants)
	above, err := c.Token(ctx, held.ParentToken)
	require.NoError(t, err)
	assert.Equal(t, parent, above.AgentID)
	assert.Greater(t, above.Depth, held.Depth)
	a, err := c.Agent(ctx, child)
	require.NoError(t, err)
	assert.Equal(t, &api.HeldToken{TokenID: held.TokenID}, a.Token)
	assert.Equal(t, parent, a.ParentID)

	_, err = c.RevokeToken(ctx, event.RevokeToken{Agent: held.ParentToken, Reason: "gone wild"})
	require.NoError(t, err)
	for _, id := range []string{parent, child} {
		a, err := c.Await(ctx, id, client.Finished)
		require.NoError(t, err)
		assert.Equal(t, "TERMINATED", a.State)
		assert.Equal(t, "TOKEN_REVOKED", a.Token.Revoked)
	}
	page, err := c.Tokens(ctx, api.TokenQuery{})
	require.NoError(t, err)
	assert.Len(t, page.Tokens, 2)
	page, err = c.Tokens(ctx, api.TokenQuery{InForce: true})
	require.NoError(t, err)
	assert.Empty(t, page.Tokens)
	_, err = c.RevokeToken(ctx, event.RevokeToken{Agent: held.TokenID})
	says(t, err, "INVALID_STATE", "agent")
	_, err = c.Token(ctx, "018f4e5c-0000-7000-8000-0000000000ff")
	says(t, err, "NOT_FOUND", "token")
	x, err := c.Explain(ctx, child, "tool.call", "echo")
	require.NoError(t, err)
	assert.Equal(t, "DENY", x.Verdict)
	assert.Equal(t, "TOKEN_REVOKED", x.Revoked)
}

// FA-1, FA-2: what went wrong, what the kernel did about it, and what an
// operator did.
func TestFaults(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	agent := start(t, c, `{"kind":"LITERAL","payload":{"value":"${1 // 0}"}}`)
	a, err := c.Agent(ctx, agent)
	require.NoError(t, err)
	assert.Equal(t, "EVAL_FAILURE", a.FaultCode)
	assert.True(t, client.Finished(a))
	_, err = c.Trigger(ctx, event.Trigger{Agent: agent, Trigger: "recover"})
	said := says(t, err, "NOT_RECOVERABLE", "agent")
	assert.Contains(t, said.Hint, "omni agent reclassify "+agent+" --transient")
	_, err = c.Reclassify(ctx, event.Reclassify{Agent: agent, Reason: "the input was fixed"})
	require.NoError(t, err)
	_, err = c.Reclassify(ctx, event.Reclassify{Agent: agent, Reason: "again"})
	says(t, err, "INVALID_ARGUMENT", "agent")
	page, err := c.AllFaults(ctx, agent, api.HistoryQuery{Limit: 1})
	require.NoError(t, err)
	var kinds []string
	for _, f := range page.Faults {
		kinds = append(kinds, f.Kind)
	}
	assert.Equal(t, []string{"TICK_FAILED", "LIFECYCLE", "FAULT_RECLASSIFIED"}, kinds)
	assert.Equal(t, []string{"EVAL_FAILURE", "PERMANENT"}, []string{page.Faults[0].Code, page.Faults[0].Class})
	assert.NotZero(t, page.Faults[0].Line)
	assert.Equal(t, "ACTIVE", page.Faults[1].From)
	assert.Equal(t, "the input was fixed", page.Faults[2].Reason)
	audit, err := c.Audit(ctx, 0)
	require.NoError(t, err)
	assert.Zero(t, audit.Count)
	assert.NotNil(t, audit.Entries)
}

// FA-1: a TRANSIENT failure is retried by the kernel: an agent between two
// attempts has not come to rest, and whoever waits for it goes on waiting.
func TestAgentBetweenRetriesIsNotFinished(t *testing.T) {
	g, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.Start(ctx, event.Start{Define: echo(t)})
	require.NoError(t, err)
	fails := event.Result{Agent: 1, Tick: 1, Call: 1, Code: "TOOL_UNREACHABLE", Message: "nobody there", Millis: 3}
	g.Nodes[0].Propose(ctx, event.Event{Kind: event.ToolResult, Principal: "node:n1", Body: event.Encode(&fails)})
	a, err := c.Agent(ctx, done.AgentID)
	require.NoError(t, err)
	assert.Equal(t, "FAULTED", a.State)
	assert.Equal(t, []string{"TRANSIENT", "TOOL_UNREACHABLE"}, []string{a.FaultClass, a.FaultCode})
	assert.Equal(t, uint32(1), a.Retries)
	assert.Equal(t, a.Transitions[3].AtMillis+1000, a.RetryAt)
	assert.False(t, client.Finished(a))
	page, err := c.AllFaults(ctx, done.AgentID, api.HistoryQuery{})
	require.NoError(t, err)
	last := page.Faults[len(page.Faults)-1]
	assert.Equal(t, []any{"RETRY_SCHEDULED", uint32(1), int64(1000)}, []any{last.Kind, last.Retry, last.Backoff})
}

// LC-13: force takes back what a WAITING agent waits for.
func TestForcedSuspend(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	done, err := c.Start(ctx, event.Start{Define: echo(t)})
	require.NoError(t, err)
	a, err := c.Agent(ctx, done.AgentID)
	require.NoError(t, err)
	assert.Equal(t, []any{"WAITING", "call"}, []any{a.State, a.Waits[0].For})
	done, err = c.Trigger(ctx, event.Trigger{Agent: done.AgentID, Trigger: "suspend", Force: true})
	require.NoError(t, err)
	assert.Equal(t, "RESUMABLE", done.State)
}

// The batch endpoint takes all of it, each with its own outcome.
func TestBatchOfOperators(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	parent, child := delegating(t, c)
	page, err := c.Escalations(ctx, api.EscalationQuery{})
	require.NoError(t, err)
	held, err := c.Token(ctx, child)
	require.NoError(t, err)
	results, err := c.Batch(ctx, []api.Command{
		api.NewCommand(event.PutShared{Namespace: "team", Key: "a", Value: program(t, "1")}),
		api.NewCommand(event.DeleteShared{Namespace: "team", Key: "a"}),
		api.NewCommand(event.Send{Agent: parent, Message: program(t, "1")}),
		api.NewCommand(event.Decide{Escalation: page.Escalations[0].Escalation, Reason: "no"}),
		api.NewCommand(event.RevokeGrant{Agent: parent, Grant: 0}),
		api.NewCommand(event.RevokeToken{Agent: held.TokenID}),
		api.NewCommand(event.Reclassify{Agent: parent, Reason: "r"}),
	})
	require.NoError(t, err)
	var codes []string
	for _, r := range results {
		var said *api.Error
		if errors.As(r.Err, &said) {
			codes = append(codes, said.Code)
			continue
		}
		require.NoError(t, r.Err)
		codes = append(codes, "done")
	}
	text, _ := json.Marshal(codes)
	// The denied child failed with POLICY_VIOLATION and ended, and its parent with it.
	assert.JSONEq(t, `["done","done","done","done","INVALID_STATE","INVALID_STATE","INVALID_STATE"]`, string(text))
	assert.NotZero(t, results[0].Done.Version)
}

// CL-2: a node that is behind does not know whom a revocation concerns. It judges
// nothing by that, so the client asks the next one.
func TestRevokingAtANodeThatIsBehind(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{ReadTimeout: 30 * time.Millisecond})
	ctx := within(t, 10*time.Second)
	g.Nodes[1].Hold()
	defer g.Nodes[1].Release()
	leader := connect(t, client.Options{}, urls[0])
	done, err := leader.Start(ctx, event.Start{Define: echo(t)})
	require.NoError(t, err)
	behind := connect(t, client.Options{}, urls[1], urls[0])
	_, err = behind.RevokeToken(ctx, event.RevokeToken{Agent: done.AgentID}, client.NoSession())
	require.NoError(t, err)
}

// NO-2, NO-4: an operator stops everything and lets it go on; a start meanwhile is
// refused for certain, and is not sent again by itself.
func TestEmergencyStop(t *testing.T) {
	_, c := one(t)
	ctx := within(t, 20*time.Second)
	stopped, err := c.SuspendKernel(ctx, event.SuspendKernel{Reason: "smoke"})
	require.NoError(t, err)
	status, err := c.Status(ctx)
	require.NoError(t, err)
	require.NotNil(t, status.Stopped)
	assert.Equal(t, "smoke", status.Stopped.Reason)
	assert.Equal(t, stopped.BusSeq+1, status.Stopped.BusSeq, "the record after the event")
	_, err = c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	said := says(t, err, "KERNEL_SUSPENDED", "")
	assert.True(t, said.Definite)
	assert.Equal(t, stopped.Index+1, said.Index, "it was asked once")
	_, err = c.SuspendKernel(ctx, event.SuspendKernel{})
	says(t, err, "INVALID_ARGUMENT", "reason")
	_, err = c.ResumeKernel(ctx, event.ResumeKernel{Reason: "a toaster"})
	require.NoError(t, err)
	status, err = c.Status(ctx)
	require.NoError(t, err)
	require.Nil(t, status.Stopped)
	_, err = c.Start(ctx, event.Start{Define: event.Define{Program: literal(t)}})
	require.NoError(t, err)
}
