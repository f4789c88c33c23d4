package logaudit_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// untruth is a lie, the rule that it breaks, and the story that it is told in. It
// gives the record at which that must be noticed; nil is anywhere.
type untruth struct {
	name  string
	rule  logaudit.RuleID
	story string
	lie   func(f *forgery) (noticed *written)
}

// forgeries are lies, each with the rule that it breaks: what is changed in a
// story's log, and the record at which that must be noticed.
var forgeries = []untruth{
	{"a kind that there is not", logaudit.Form, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		r.Kind = 126
		return r
	}},
	{"a body that does not read", logaudit.Form, "work", func(f *forgery) *written {
		r := f.nth(bus.MemoryAccess, 1, 0)
		r.body = append(r.body, 0)
		return r
	}},
	{"a second event", logaudit.Form, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.copy(r, f.blocks[1].records[0])
		return r
	}},
	{"a second configuration", logaudit.Form, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.copy(r, f.nth(bus.KernelBooted, 0, 0))
		return r
	}},
	{"time that nobody told", logaudit.Clock, "work", func(f *forgery) *written {
		last := f.blocks[len(f.blocks)-1]
		last.clock++
		return last.records[0]
	}},
	{"an agent that never was", logaudit.Identity, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		r.Agent = 99
		return r
	}},
	{"an agent defined twice", logaudit.Identity, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.copy(r, f.nth(bus.AgentDefined, 1, 0))
		return r
	}},

	{"a transition that is no row", logaudit.Transition, "work", func(f *forgery) *written {
		r := f.nth(bus.Lifecycle, 3, -1) // ACTIVE --error--> FAULTED
		edit(f, r, func(e *lifecycle.Event) { e.Trigger = lifecycle.Expire })
		return r
	}},
	{"a transition that leads elsewhere", logaudit.Transition, "work", func(f *forgery) *written {
		r := f.nth(bus.Lifecycle, 3, -1)
		edit(f, r, func(e *lifecycle.Event) { e.To = lifecycle.Waiting })
		return r
	}},
	{"a transition from elsewhere", logaudit.Transition, "work", func(f *forgery) *written {
		r := f.nth(bus.Lifecycle, 3, -1)
		edit(f, r, func(e *lifecycle.Event) { e.From = lifecycle.Completing })
		return r
	}},
	{"a transition left out", logaudit.Transition, "work", func(f *forgery) *written {
		f.blank(f.nth(bus.Lifecycle, 2, -2)) // ACTIVE --error--> FAULTED, of the kill
		return f.nth(bus.Lifecycle, 2, -1)
	}},
	{"a row that was refused", logaudit.Transition, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 2, 0)
		f.put(r, bus.Record{Kind: bus.InvalidTransition, Agent: 2, Body: &lifecycle.Rejection{
			From: lifecycle.Waiting, Trigger: lifecycle.Resume, Caller: lifecycle.Scheduler,
		}})
		return r
	}},
	{"a tombstone of the living", logaudit.Transition, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 2, 0)
		f.put(r, bus.Record{Kind: bus.AgentArchived, Agent: 2})
		return r
	}},
	{"a caller who may not", logaudit.Caller, "work", func(f *forgery) *written {
		r := f.nth(bus.Lifecycle, 3, -1)
		edit(f, r, func(e *lifecycle.Event) { e.Caller = lifecycle.Client })
		return r
	}},
	{"a client in the scheduler's event", logaudit.Caller, "work", func(f *forgery) *written {
		r := f.nth(bus.Lifecycle, 2, 5) // spawn, activate, await_tool, resume, suspend, and the client's resume
		f.blocks[f.blockOf(r)].records[0].body = f.blocks[len(f.blocks)-1].records[0].body
		return r
	}},
	{"a parent that is none", logaudit.Caller, "work", func(f *forgery) *written {
		r := f.nth(bus.Lifecycle, 2, 4)
		edit(f, r, func(e *lifecycle.Event) {
			require.Equal(f.t, lifecycle.Resumable, e.To)
			e.Caller = lifecycle.Parent
		})
		return r
	}},
	{"suspended by nobody who may", logaudit.Caller, "work", func(f *forgery) *written {
		r := f.nth(bus.SuspendRequested, 2, 0)
		edit(f, r, func(b *lifecycle.SuspendRequested) { b.Caller = lifecycle.Scheduler })
		return r
	}},

	{"work after the end", logaudit.Over, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1) // the retention's
		f.put(r, bus.Record{Kind: bus.InstructionQueued, Agent: 1, Body: &execution.InstructionBody{Input: value.Null}})
		return r
	}},
	{"a result after the end", logaudit.Over, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1)
		f.copy(r, f.nth(bus.ActionExecuted, 1, 0))
		return r
	}},

	{"a tick without an end", logaudit.Tick, "work", func(f *forgery) *written {
		r := f.nth(bus.TickCompleted, 1, 0)
		f.blank(r)
		return f.blocks[f.blockOf(r)].last()
	}},
	{"a tick without a beginning", logaudit.Step, "work", func(f *forgery) *written {
		f.blank(f.nth(bus.TickStarted, 3, 0))
		return f.nth(bus.Step, 3, 0)
	}},
	{"a tick of another number", logaudit.Tick, "work", func(f *forgery) *written {
		for _, kind := range []bus.Kind{bus.TickStarted, bus.Step, bus.TickFailed} {
			f.nth(kind, 3, 0).Tick = 2
		}
		return f.nth(bus.TickStarted, 3, 0)
	}},
	{"a tick that nobody queued", logaudit.Tick, "work", func(f *forgery) *written {
		f.blank(f.nth(bus.InstructionQueued, 3, 0))
		return f.nth(bus.TickStarted, 3, 0)
	}},
	{"a tick that ends twice", logaudit.Tick, "work", func(f *forgery) *written {
		r := f.after(f.nth(bus.TickFailed, 3, 0), bus.TimerCleared)
		f.copy(r, f.nth(bus.TickFailed, 3, 0))
		return r
	}},
	{"the tick of another, brought by no fork", logaudit.Tick, "work", func(f *forgery) *written {
		r := f.after(f.nth(bus.TickFailed, 3, 0), bus.TimerCleared)
		f.put(r, bus.Record{Kind: bus.TickForked, Agent: 3, Body: &execution.ForkedBody{LastTick: 5}})
		return r
	}},
	{"a step that is left out", logaudit.Step, "family", func(f *forgery) *written {
		r := f.nth(bus.Step, 2, 0)
		f.blank(r)
		return f.nth(bus.TickPendingTool, 2, 0)
	}},
	{"a step counted twice", logaudit.Step, "work", func(f *forgery) *written {
		r := f.nth(bus.TickFailed, 3, 0)
		edit(f, r, func(b *execution.FailedBody) { b.Steps++ })
		return r
	}},

	{"an evaluation of what nobody asked", logaudit.Unasked, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.put(r, bus.Record{Kind: bus.Allow, Agent: 1, Tick: 1, Body: &permissions.Evaluation{
			Action: "tool.call", Resource: "http.request/GET/h", Grants: 1,
		}})
		return r
	}},
	{"a call that nobody made", logaudit.Unasked, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.copy(r, f.nth(bus.CallRequested, 1, 0))
		edit(f, r, func(b *tools.RequestedBody) { b.Call = 9 })
		return r
	}},

	{"a DENY that was an ALLOW", logaudit.Verdict, "asking", func(f *forgery) *written {
		r := f.nth(bus.Deny, 2, 0)
		r.Kind = uint16(bus.Allow)
		return r
	}},
	{"another grant that decides", logaudit.Verdict, "family", func(f *forgery) *written {
		r := f.nth(bus.Allow, 1, 0)
		edit(f, r, func(b *permissions.Evaluation) { b.Grant-- })
		return r
	}},
	{"another list that decides", logaudit.Verdict, "family", func(f *forgery) *written {
		r := f.nth(bus.Allow, 2, 0)
		edit(f, r, func(b *permissions.Evaluation) { b.Level, b.Grants = 1, 1 })
		return r
	}},
	{"an escalation that was an ALLOW", logaudit.Verdict, "asking", func(f *forgery) *written {
		r := f.nth(bus.Escalated, 1, -1)
		var e permissions.Escalated
		edit(f, r, func(b *permissions.Escalated) { e = *b })
		f.put(r, bus.Record{Kind: bus.Allow, Agent: 1, Tick: r.Tick, Body: &permissions.Evaluation{
			Action: e.Action, Resource: e.Resource, Grants: e.Grants, Grant: e.Grant,
		}})
		return r
	}},
	{"a decision that nobody asked for", logaudit.Escalation, "asking", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, -1)
		f.put(r, bus.Record{Kind: bus.EscalationDecided, Agent: 1, Tick: 1, Body: &permissions.EscalationDecided{ID: 1, Approved: true, By: "ann"}})
		return r
	}},
	{"a decision by nobody's parent", logaudit.Escalation, "asking", func(f *forgery) *written {
		r := f.nth(bus.Escalated, 1, -1)
		edit(f, r, func(b *permissions.Escalated) { b.Handler = 2 })
		return r
	}},
	{"a decision about another call", logaudit.Escalation, "asking", func(f *forgery) *written {
		r := f.nth(bus.Escalated, 1, -1)
		edit(f, r, func(b *permissions.Escalated) { b.Digest[0] ^= 1 })
		return r
	}},
	{"an approval that was a denial", logaudit.Unasked, "asking", func(f *forgery) *written {
		edit(f, f.nth(bus.EscalationDecided, 1, 0), func(b *permissions.EscalationDecided) { b.Approved = false })
		return f.nth(bus.Allow, 1, 0)
	}},

	{"an ALLOW left out", logaudit.Unjudged, "work", func(f *forgery) *written {
		f.blank(f.nth(bus.Allow, 1, 0)) // the second one is for the same
		return f.nth(bus.CallRequested, 1, 1)
	}},
	{"a DENY for an ALLOW", logaudit.Unjudged, "asking", func(f *forgery) *written {
		r := f.nth(bus.ActionFailed, 2, 0)
		edit(f, r, func(b *tools.ActionBody) { b.Code, b.Message = "", "" })
		r.Kind = uint16(bus.ActionExecuted)
		edit(f, f.nth(bus.ResultDelivered, 2, 0), func(b *execution.DeliveredBody) {
			b.Answer = execution.Answer{Call: b.Answer.Call, OK: true, Value: value.Null}
		})
		return r
	}},
	{"another call than was judged", logaudit.Unjudged, "work", func(f *forgery) *written {
		r := f.nth(bus.CallRequested, 1, 0)
		edit(f, r, func(b *tools.RequestedBody) { b.Args = value.AppendInt(nil, 7) })
		return r
	}},
	{"another call than was approved", logaudit.Unjudged, "asking", func(f *forgery) *written {
		r := f.nth(bus.CallRequested, 1, 0)
		edit(f, r, func(b *tools.RequestedBody) { b.Args = value.AppendInt(nil, 7) })
		return r
	}},
	{"memory that nobody judged", logaudit.Unjudged, "work", func(f *forgery) *written {
		r := f.nth(bus.MemoryAccess, 1, 0)
		edit(f, r, func(b *memory.Access) { b.Key = "other" })
		return r
	}},
	{"children that nobody judged", logaudit.Unjudged, "family", func(f *forgery) *written {
		f.blank(f.nth(bus.Allow, 1, 0))
		return f.nth(bus.DelegationAccepted, 1, 0)
	}},

	{"a dispatch on a revoked token", logaudit.Authority, "work", func(f *forgery) *written {
		r := f.nth(bus.CallDispatched, 1, 0)
		f.put(f.nth(bus.TimerSet, 1, 2), f.revoked(1))
		return r
	}},
	{"a tick on a revoked token", logaudit.Authority, "work", func(f *forgery) *written {
		f.put(f.before(f.nth(bus.TickPendingTool, 1, 2), bus.TickScheduled), f.revoked(1))
		return f.after(f.nth(bus.TickStarted, 1, 2), bus.Step)
	}},
	{"a tick on a token that rests on a revoked one", logaudit.Authority, "family", func(f *forgery) *written {
		f.put(f.nth(bus.TickScheduled, 2, 0), f.revoked(1))
		return f.nth(bus.Step, 2, 0)
	}},
	{"a dispatch under a revoked grant", logaudit.Authority, "work", func(f *forgery) *written {
		r := f.nth(bus.CallDispatched, 1, 0)
		over := f.nth(bus.TimerSet, 1, 2)
		f.copy(over, f.nth(bus.GrantRevoked, 4, 0))
		over.Agent = 1
		return r
	}},

	{"a call that nobody requested", logaudit.Dispatch, "work", func(f *forgery) *written {
		r := f.nth(bus.ActionExecuted, 1, 0)
		f.blank(f.nth(bus.CallRequested, 1, 0))
		return r
	}},
	{"a call requested twice", logaudit.Dispatch, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 1)
		f.copy(r, f.nth(bus.CallRequested, 1, 0))
		return r
	}},
	{"a call dispatched twice", logaudit.Dispatch, "work", func(f *forgery) *written {
		r := f.after(f.nth(bus.CallDispatched, 1, 0), bus.TimerCleared)
		f.copy(r, f.nth(bus.CallDispatched, 1, 0))
		return r
	}},

	{"a result before its record", logaudit.Result, "work", func(f *forgery) *written {
		executed, delivered := f.nth(bus.ActionExecuted, 1, 0), f.nth(bus.ResultDelivered, 1, 0)
		f.swap(executed, delivered)
		return executed
	}},
	{"a result without its record", logaudit.Result, "work", func(f *forgery) *written {
		f.blank(f.nth(bus.ActionExecuted, 1, 0))
		return f.nth(bus.ResultDelivered, 1, 0)
	}},
	{"a failure delivered as a success", logaudit.Result, "asking", func(f *forgery) *written {
		r := f.nth(bus.ResultDelivered, 2, 0)
		edit(f, r, func(b *execution.DeliveredBody) { b.Answer.OK, b.Answer.Value = true, value.Null })
		return r
	}},
	{"another result than came", logaudit.Result, "work", func(f *forgery) *written {
		r := f.nth(bus.ResultDelivered, 1, 0)
		edit(f, r, func(b *execution.DeliveredBody) { b.Answer.Value = value.AppendInt(nil, 7) })
		return r
	}},
	{"a result that never came", logaudit.Result, "work", func(f *forgery) *written {
		r := f.nth(bus.ActionExecuted, 1, 0)
		f.blocks[f.blockOf(r)].records[0].body = f.blocks[len(f.blocks)-1].records[0].body
		return r
	}},
	{"a tick that does not wait", logaudit.Result, "family", func(f *forgery) *written {
		f.blank(f.nth(bus.ResultDelivered, 2, 0))
		return f.after(f.nth(bus.ActionExecuted, 2, 0), bus.Lifecycle)
	}},
	{"a child's result before its end", logaudit.Result, "family", func(f *forgery) *written {
		over, told := f.nth(bus.Lifecycle, 2, -1), f.nth(bus.ChildResult, 2, 0)
		f.swap(over, told)
		return over
	}},
	{"children that have not ended", logaudit.Result, "family", func(f *forgery) *written {
		f.blank(f.nth(bus.ChildResult, 2, 0))
		return f.nth(bus.ActionExecuted, 1, 0)
	}},

	{"two answers", logaudit.Twice, "work", func(f *forgery) *written {
		r := f.after(f.nth(bus.ResultDelivered, 1, 0), bus.TimerCleared)
		f.copy(r, f.nth(bus.ActionExecuted, 1, 0))
		return r
	}},
	{"an answer delivered twice", logaudit.Twice, "work", func(f *forgery) *written {
		r := f.after(f.nth(bus.ResultDelivered, 1, 0), bus.TimerCleared)
		f.copy(r, f.nth(bus.ResultDelivered, 1, 0))
		return r
	}},
	{"a child told twice", logaudit.Twice, "family", func(f *forgery) *written {
		r := f.after(f.nth(bus.ChildResult, 2, 0), bus.TimerCleared)
		f.copy(r, f.nth(bus.ChildResult, 2, 0))
		return r
	}},

	{"a child as deep as its parent", logaudit.Attenuation, "family", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 2, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Depth = 8 })
		return r
	}},
	{"a child that outlives its parent's token", logaudit.Attenuation, "family", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 2, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Expires += 20_000 })
		return r
	}},
	{"a child without an end", logaudit.Attenuation, "family", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 2, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Expires = 0 })
		return r
	}},
	{"grants that widen", logaudit.Attenuation, "family", func(f *forgery) *written {
		r := f.nth(bus.Interned, 0, 1)
		f.widen(r)
		return f.nth(bus.TokenIssued, 2, 0)
	}},

	{"a second token", logaudit.Tree, "family", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 2, 0)
		f.copy(r, f.nth(bus.TokenIssued, 2, 0))
		return r
	}},
	{"a child that nobody asked for", logaudit.Tree, "family", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 2, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Position = 1 })
		return r
	}},
	{"more children than were asked for", logaudit.Tree, "family", func(f *forgery) *written {
		r := f.nth(bus.DelegationAccepted, 1, 0)
		edit(f, r, func(b *delegation.DelegationAccepted) { b.First, b.Count = b.First-1, 2 })
		return r
	}},
	{"a life without a token", logaudit.Tree, "work", func(f *forgery) *written {
		f.blank(f.nth(bus.TokenIssued, 3, 0))
		f.blank(f.nth(bus.GrantsAssigned, 3, 0))
		f.blank(f.nth(bus.Step, 3, 0))
		edit(f, f.nth(bus.TickFailed, 3, 0), func(b *execution.FailedBody) { b.Steps = 0 })
		return f.nth(bus.Lifecycle, 3, 0)
	}},

	{"grants of another", logaudit.Grants, "work", func(f *forgery) *written {
		r := f.nth(bus.GrantsAssigned, 3, 0)
		edit(f, r, func(b *permissions.Assigned) { b.Grants = 1 })
		return r
	}},
	{"a token with the grants of another", logaudit.Grants, "work", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 3, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Grants = 1 })
		edit(f, f.nth(bus.GrantsAssigned, 3, 0), func(b *permissions.Assigned) { b.Grants = 1 })
		return r
	}},
	{"grants that are not in the log", logaudit.Grants, "work", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 3, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Grants = 77 })
		edit(f, f.nth(bus.GrantsAssigned, 3, 0), func(b *permissions.Assigned) { b.Grants = 77 })
		return r
	}},
	{"a token deeper than defined", logaudit.Grants, "work", func(f *forgery) *written {
		r := f.nth(bus.TokenIssued, 3, 0)
		edit(f, r, func(b *delegation.TokenIssued) { b.Depth++ })
		return r
	}},
	{"a revocation that gives", logaudit.Grants, "family", func(f *forgery) *written {
		r := f.nth(bus.GrantRevoked, 3, 0)
		edit(f, r, func(b *permissions.Revoked) { b.Grant++ })
		return r
	}},

	{"another cluster's backup", logaudit.Links, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.put(r, bus.Record{Kind: bus.ClusterRestored, Body: &event.Restored{From: "test", To: "other", Index: 3}})
		return r
	}},
	{"a tree head of another log", logaudit.Links, "work", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 1, 0)
		f.put(r, bus.Record{Kind: bus.TreeHead, Body: &logging.TreeHead{Size: 3}})
		return r
	}},
}

// LO-12: the chain of each of these logs holds; only the audit can notice. It
// finds what is wrong, once, where it is.
func TestForgeriesAreNoticed(t *testing.T) {
	logs := make(map[string][][]byte)
	for name, story := range stories {
		logs[name] = story(t).Blocks
	}
	for _, test := range slices.Concat(forgeries, forkForgeries, stopForgeries, budgetForgeries, runForgeries, toolForgeries, versionForgeries, peopleForgeries, orderForgeries) {
		t.Run(test.name, func(t *testing.T) {
			f := forge(t, logs[test.story])
			noticed := test.lie(f)
			findings := audit(t, f.write()).Findings
			require.Len(t, findings, 1, "%v", texts(findings))
			found := findings[0]
			assert.Equal(t, test.rule, found.Rule, found.What)
			if noticed != nil {
				assert.Equal(t, noticed.seq, found.Seq, "%s: %s", found.Rule, found.What)
			}
			assert.NotEmpty(t, found.What)
			t.Logf("%s, at %d %s: %s", found.Rule, found.Seq, kernel.KindName(found.Kind), found.What)
		})
	}
}

// Every rule has a lie that breaks it.
func TestEveryRuleIsBroken(t *testing.T) {
	broken := map[logaudit.RuleID]bool{logaudit.Chain: true} // TestBrokenChain
	for _, test := range slices.Concat(forgeries, forkForgeries, stopForgeries, budgetForgeries, runForgeries, toolForgeries, versionForgeries, peopleForgeries, orderForgeries) {
		broken[test.rule] = true
	}
	for _, rule := range logaudit.Rules {
		assert.True(t, broken[rule.ID], string(rule.ID))
		same, ok := logaudit.RuleOf(rule.ID)
		assert.True(t, ok)
		assert.Equal(t, rule, same)
	}
	_, ok := logaudit.RuleOf("none")
	assert.False(t, ok)
}

func texts(findings []logaudit.Finding) (all []string) {
	for _, f := range findings {
		all = append(all, string(f.Rule)+" at "+kernel.KindName(f.Kind)+": "+f.What)
	}
	return all
}
