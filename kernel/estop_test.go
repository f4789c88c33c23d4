package kernel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// twoCalls is a program that calls, and with the answer calls again.
const twoCalls = `{"kind":"SEQ","payload":{"steps":[` + callEcho + `,` + callEcho + `]}}`

// NO-2: while the kernel is suspended results are taken and kept, and no tick
// runs, whatever is committed; when it is resumed the ticks run in that event.
func TestNoTickRunsWhileSuspended(t *testing.T) {
	s := kerneltest.New(t, 3)
	id := s.Start(event.Define{Program: kerneltest.JSON(t, twoCalls)}, nil)
	require.Empty(t, s.Suspend("smoke in the hall").Refusal)
	require.Equal(t, []string{"EVENT", "KERNEL_SUSPENDED", "OUTCOME"}, s.Names())
	st := s.State()
	assert.Equal(t, "smoke in the hall", st.Estop.Stop().Reason)
	assert.Equal(t, "ann", st.Estop.Stop().By)
	assert.Equal(t, s.Wall, st.Estop.Stop().At)
	assert.EqualValues(t, len(s.Log), st.Estop.Stop().Index)

	require.Empty(t, s.Answer(true, "kept").Refusal)
	require.Equal(t, []string{"EVENT", "TIMER_CLEARED", "ACTION_EXECUTED", "RESULT_DELIVERED", "LIFECYCLE", "TICK_SCHEDULED"}, s.Names())
	for range 3 {
		s.Pass(10)
		require.Equal(t, []string{"EVENT"}, s.Names())
	}
	require.Equal(t, lifecycle.Active, s.StateOf(id))
	require.Empty(t, s.Pending)

	require.Empty(t, s.Resume("a toaster").Refusal)
	require.Equal(t, []string{"EVENT", "KERNEL_RESUMED", "OUTCOME", "TICK_STARTED"}, s.Names()[:4])
	require.Equal(t, &estop.Order{By: "bob", Reason: "a toaster"}, kerneltest.Find[*estop.Order](s, bus.KernelResumed))
	s.Answer(true, "second")
	require.Equal(t, lifecycle.Terminated, s.StateOf(id))
	s.Check()
}

// NO-5: a deadline is a point in time, and time goes on: none rings while the
// kernel is suspended, and those that have passed ring in their order after the
// event that resumes it, when results that came in time have been seen.
func TestDeadlinesWhileSuspended(t *testing.T) {
	s := kerneltest.New(t, 1)
	sleeps := s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"WAIT","payload":{"ms":100}}`)}, nil)
	waits := s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	answered := s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	expires := s.Start(event.Define{Mode: "service", TTLMillis: 60_000, Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}, nil)
	require.Empty(t, s.Suspend("why").Refusal)
	s.Pass(3_600_000)
	require.Equal(t, []string{"EVENT"}, s.Names(), "an hour later")
	s.Result(s.Pending[1], true, "late, and nobody has called it off")
	require.Empty(t, s.Resume("").Refusal)
	require.Equal(t, lifecycle.Terminated, s.StateOf(answered), "its result came before its deadline rang")
	for _, id := range []string{sleeps, waits, expires} {
		require.Equal(t, lifecycle.Waiting, s.StateOf(id))
	}
	s.Pulse()
	require.Equal(t, lifecycle.Terminated, s.StateOf(sleeps), "it has slept")
	require.Equal(t, lifecycle.Faulted, s.StateOf(waits))
	require.Equal(t, failure.WaitTimeout, s.Row(waits).Lifecycle.Code)
	require.Equal(t, failure.Transient, s.Row(waits).Lifecycle.Fault, "recovery makes the call anew")
	require.Equal(t, lifecycle.Terminated, s.StateOf(expires))
	require.Equal(t, failure.TokenExpired, s.Row(expires).Lifecycle.Code, "authority does not last longer for it")
	s.Check()
}

// NO-2: no call is dispatched while the kernel is suspended; after that it is.
func TestNoDispatchWhileSuspended(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	require.Empty(t, s.Suspend("why").Refusal)
	before := kerneltest.Substance(s.State())
	require.Equal(t, failure.KernelSuspended, s.Dispatch(s.Pending[0]).Refusal.Code)
	require.Equal(t, before, kerneltest.Substance(s.State()))
	require.Empty(t, s.Resume("").Refusal)
	require.Empty(t, s.Dispatch(s.Pending[0]).Refusal)
	s.Check()
}

// NO-4: which commands a suspended kernel takes, one by one: a kind of command
// that is not here fails the test, so that nobody forgets to decide it.
func TestWhatASuspendedKernelTakes(t *testing.T) {
	ask := append([]permissions.Grant{{Effect: permissions.Escalate, Action: "tool.call", Resource: "echo"}}, kerneltest.Everything()...)
	service := event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`), Grants: kerneltest.Everything()}
	type one struct {
		what    string
		command func(s *kerneltest.Sim, waiting, asking, resumable, faulted string) any
		taken   bool
	}
	trigger := func(word string, at int) func(*kerneltest.Sim, string, string, string, string) any {
		return func(_ *kerneltest.Sim, waiting, asking, resumable, faulted string) any {
			return event.Trigger{Agent: [...]string{waiting, asking, resumable, faulted}[at], Trigger: word}
		}
	}
	tests := map[event.Kind][]one{
		event.AgentDefine: {{"", func(*kerneltest.Sim, string, string, string, string) any { return service }, false}},
		event.AgentStart:  {{"", func(*kerneltest.Sim, string, string, string, string) any { return event.Start{Define: service} }, false}},
		event.AgentTrigger: {
			{"spawn", trigger("spawn", 0), false}, {"activate", trigger("activate", 0), false}, {"resume", trigger("resume", 2), false},
			{"recover", trigger("recover", 3), false}, {"no trigger", trigger("jump", 0), false},
			{"suspend", trigger("suspend", 0), true}, {"expire", trigger("expire", 2), true}, {"abandon", trigger("abandon", 3), true},
		},
		event.AgentKill:   {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { return event.Kill{Agent: w} }, true}},
		event.AgentSubmit: {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { return event.Submit{Agent: w} }, false}},
		event.AgentSend:   {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { return event.Send{Agent: w, Message: value.Null} }, false}},
		event.AgentReclassify: {{"", func(_ *kerneltest.Sim, _, _, _, f string) any {
			return event.Reclassify{Agent: f, Reason: "passing"}
		}, false}},
		event.TokenRevoke: {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { return event.RevokeToken{Agent: w} }, true}},
		event.GrantRevoke: {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { return event.RevokeGrant{Agent: w} }, true}},
		event.EscalationDecide: {
			{"approve", func(s *kerneltest.Sim, _, _, _, _ string) any {
				return event.Decide{Escalation: s.Escalation(), Approve: true}
			}, false},
			{"deny", func(s *kerneltest.Sim, _, _, _, _ string) any { return event.Decide{Escalation: s.Escalation()} }, true},
		},
		event.SharedPut: {{"", func(*kerneltest.Sim, string, string, string, string) any {
			return event.PutShared{Namespace: "n", Key: "k", Value: value.Null}
		}, false}},
		event.SharedDelete: {{"", func(*kerneltest.Sim, string, string, string, string) any {
			return event.DeleteShared{Namespace: "n", Key: "k"}
		}, false}},
		event.LogArchive: {{"", func(*kerneltest.Sim, string, string, string, string) any { return event.ArchiveLog{Before: 1 << 40} }, true}},
		event.AgentFork:  {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { return event.Fork{Define: service, Source: w} }, false}},
		event.BudgetSet: {{"", func(_ *kerneltest.Sim, w, _, _, _ string) any { // it may let calls in that wait
			return event.SetBudget{Agent: w, Tokens: new(uint64)}
		}, false}},
		event.ToolRegister: {{"", func(*kerneltest.Sim, string, string, string, string) any {
			return event.RegisterTool{Manifest: tools.Manifest{Name: "crm.put", Adapter: "http"}}
		}, false}},
		event.ToolDeregister: {{"", func(*kerneltest.Sim, string, string, string, string) any {
			return event.DeregisterTool{Name: "crm.get"}
		}, true}},
		event.TaskAnswer: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			calls := outbox(s)
			task := calls[len(calls)-1].Key
			return event.AnswerTask{Agent: agentOf(s, task.Agent), Tick: task.Tick, Call: task.Call, Result: value.Null}
		}, true}},
		event.OperatorOrder: {{"", func(*kerneltest.Sim, string, string, string, string) any {
			return event.Order{Action: "node.pause", Resource: "n1"}
		}, true}},
		event.AuthBootstrap: {{"", func(*kerneltest.Sim, string, string, string, string) any {
			return event.BootstrapAuth{Credential: "firsttoken"}
		}, true}},
		event.PrincipalPut: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			s.Bootstrap()
			return event.PutPrincipal{Name: "ann"}
		}, true}},
		event.PrincipalDelete: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			s.Bootstrap()
			return event.DeletePrincipal{Name: "admin"}
		}, true}},
		event.RolePut: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			s.Bootstrap()
			return event.PutRole{Name: "quiet"}
		}, true}},
		event.RoleDelete: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			s.Bootstrap()
			return event.DeleteRole{Name: "reader"}
		}, true}},
		event.CredentialPut: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			s.Bootstrap()
			return event.PutCredential{ID: "secondtoken", Principal: "admin"}
		}, true}},
		event.CredentialRevoke: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			s.Bootstrap()
			return event.RevokeCredential{ID: kerneltest.AdminToken}
		}, true}},
		event.RunPlan: {{"", func(s *kerneltest.Sim, _, _, _, _ string) any {
			return event.PlanRun{Tasks: []event.RunTask{step(s, "a", callEcho)}}
		}, false}},
		event.RunStart:      {{"", func(s *kerneltest.Sim, _, _, _, _ string) any { return event.StartRun{Run: firstRun(s)} }, false}},
		event.RunResume:     {{"", func(s *kerneltest.Sim, _, _, _, _ string) any { return event.ResumeRun{Run: firstRun(s)} }, false}},
		event.RunPause:      {{"", func(s *kerneltest.Sim, _, _, _, _ string) any { return event.PauseRun{Run: firstRun(s)} }, true}},
		event.RunKill:       {{"", func(s *kerneltest.Sim, _, _, _, _ string) any { return event.KillRun{Run: firstRun(s)} }, true}},
		event.KernelSuspend: {{"", func(*kerneltest.Sim, string, string, string, string) any { return event.SuspendKernel{Reason: "again"} }, false}},
		event.KernelResume:  {{"", func(*kerneltest.Sim, string, string, string, string) any { return event.ResumeKernel{} }, true}},
	}
	for kind := event.Kind(0); kind < 1000; kind++ {
		if !kind.Known() || !kind.IsCommand() {
			continue
		}
		assert.NotEmpty(t, tests[kind], "what becomes of %s while the kernel is suspended?", kind)
		for _, test := range tests[kind] {
			s := kerneltest.New(t, 1, func(c *config.Config) { c.SegmentBytes = 4096 })
			s.Must(event.SharedPut, event.PutShared{Namespace: "n", Key: "k", Value: value.AppendString(nil, strings.Repeat("x", 4000))})
			s.Register(tools.Manifest{Name: "crm.get", Adapter: "http"})
			planned(s, step(s, "a", callEcho))
			s.Must(event.SharedPut, event.PutShared{Namespace: "n", Key: "k", Value: value.Null})
			waiting := s.Start(service, nil)
			asking := s.Start(event.Define{Grants: ask, Program: kerneltest.JSON(t, callEcho)}, nil)
			resumable := s.Start(service, nil)
			faulted := s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
			s.Answer(false, "TOOL_FAILED")
			require.Equal(t, lifecycle.Faulted, s.StateOf(faulted))
			s.Trigger(resumable, "suspend")
			s.Send(resumable, 1)
			require.Equal(t, lifecycle.Resumable, s.StateOf(resumable))
			openTask(s)
			require.Empty(t, s.Suspend("why").Refusal)
			before := kerneltest.Substance(s.State())
			body := test.command(s, waiting, asking, resumable, faulted)
			by := "client"
			if st := s.State(); st.Principals.On() {
				by = kerneltest.Admin
			}
			refused := s.By(by, kind, body).Refusal
			if test.taken {
				assert.Empty(t, refused, "%s %s", kind, test.what)
			} else {
				assert.Equal(t, failure.KernelSuspended, refused.Code, "%s %s", kind, test.what)
				assert.Contains(t, refused.Hint, "omni cluster resume")
				assert.Equal(t, before, kerneltest.Substance(s.State()), "%s %s", kind, test.what)
			}
			s.Check()
		}
	}
}

// NO-2: a stop is ordered once, with a reason, and so is its end.
func TestSuspendAndResumeByTurns(t *testing.T) {
	s := kerneltest.New(t, 1)
	require.Equal(t, failure.InvalidState, s.Resume("").Refusal.Code)
	for _, reason := range []string{"", "a\x00b", strings.Repeat("x", 257)} {
		require.Equal(t, failure.InvalidArgument, s.Suspend(reason).Refusal.Code)
		require.Equal(t, "reason", s.Suspend(reason).Refusal.Field)
	}
	require.Empty(t, s.Suspend("first").Refusal)
	require.Equal(t, failure.KernelSuspended, s.Suspend("second").Refusal.Code)
	st := s.State()
	require.Equal(t, "first", st.Estop.Stop().Reason)
	require.Equal(t, failure.InvalidArgument, s.Resume("a\x00b").Refusal.Code)
	require.Empty(t, s.Resume("").Refusal)
	require.Equal(t, failure.InvalidState, s.Resume("").Refusal.Code)
	s.Check()
}

// NO-2: what was revoked before or during the stop is followed through: a
// cascade ends agents, and starts nothing.
func TestCascadesGoOnWhileSuspended(t *testing.T) {
	s := kerneltest.New(t, 1)
	parent := s.Start(event.Define{Grants: freely, Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":[
		{"grants":[`+allowEcho+`],"program":`+callEcho+`},{"grants":[`+allowEcho+`],"program":`+callEcho+`}]}}`)}, nil)
	require.Empty(t, s.Suspend("why").Refusal)
	require.Empty(t, s.Revoke(parent).Refusal)
	s.Settle()
	st := s.State()
	_, cascading := st.Delegation.FirstCascade()
	require.False(t, cascading)
	for no := uint32(2); no <= st.Agents.Len(); no++ {
		require.NotEmpty(t, st.Agents.Get(no).Delegation.Revoked, "agent %d", no)
	}
	s.Check()
}

// EX-2, NO-2: a suspended kernel asks for no Pulses, whatever waits; a resumed
// one does.
func TestSuspendedKernelIsNotBehind(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"WAIT","payload":{"ms":100}}`)}, nil)
	s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	require.Empty(t, s.Suspend("why").Refusal)
	s.Answer(true, 1)
	s.Pass(1000)
	behind := func() bool { return kerneltest.Behind(s.State()) }
	require.NotZero(t, queued(s.State()))
	require.False(t, behind())
	require.Empty(t, s.Resume("").Refusal)
	require.True(t, behind(), "a deadline has passed")
	require.Positive(t, s.Settle())
}

func queued(st *state.State) int { return st.Running.Len() }

// NO-2: a snapshot, and so a node that starts anew, keeps the stop; a backup that
// is restored does too, and its cluster runs when somebody says so.
func TestStopOutlivesSnapshots(t *testing.T) {
	s := kerneltest.New(t, 2)
	s.Start(event.Define{Program: kerneltest.JSON(t, callEcho)}, nil)
	require.Empty(t, s.Suspend("why").Refusal)
	s.Replicas[0] = kerneltest.Restore(t, s.State(), s.Lookup)
	s.Answer(true, 1)
	st := s.State()
	require.Empty(t, s.Node(event.ClusterRestored, event.Restored{
		From: st.Config.ClusterID, To: "other", Index: st.Log.LastIndex, Chain: st.Log.Chain,
	}).Refusal)
	s.Replicas[0] = kerneltest.Restore(t, s.State(), s.Lookup)
	require.NotZero(t, queued(s.State()))
	require.Empty(t, s.Resume("").Refusal)
	require.Zero(t, queued(s.State()))
	s.Check()
}

// CL-3: a retry of what was refused meanwhile has that answer; a command that was
// done before the stop keeps its own.
func TestRetriesAcrossAStop(t *testing.T) {
	s := kerneltest.New(t, 1)
	session := kerneltest.SessionAt(s.Wall, 9)
	first := kerneltest.InSession(session, 1, 1, event.AgentDefine, event.Define{})
	second := kerneltest.InSession(session, 2, 1, event.AgentDefine, event.Define{})
	done := s.Apply(first)
	require.Empty(t, s.Suspend("why").Refusal)
	require.Equal(t, done.Agent, s.Apply(first).Agent)
	require.Equal(t, failure.KernelSuspended, s.Apply(second).Refusal.Code)
	require.Empty(t, s.Resume("").Refusal)
	require.Equal(t, failure.KernelSuspended, s.Apply(second).Refusal.Code)
	require.Empty(t, s.Apply(kerneltest.InSession(session, 3, 1, event.AgentDefine, event.Define{})).Refusal)
	s.Check()
}
