package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// judged is a simulation with authorization on, and ann, who has a token and the
// roles given.
func judged(t *testing.T, roles ...string) *kerneltest.Sim {
	t.Helper()
	s := kerneltest.New(t, 2)
	require.Empty(t, s.Bootstrap().Refusal)
	admins(s, event.PrincipalPut, event.PutPrincipal{Name: "ann", Roles: roles})
	admins(s, event.CredentialPut, event.PutCredential{ID: "anns1token", Principal: "ann", Hash: [32]byte{7}, NotAfterMillis: s.Wall + 60_000})
	return s
}

const ann = "ann#anns1token"

func admins(s *kerneltest.Sim, kind event.Kind, body any) event.Outcome {
	s.T.Helper()
	outcome := s.By(kerneltest.Admin, kind, body)
	require.Empty(s.T, outcome.Refusal)
	return outcome
}

func roleGrant(effect permissions.Effect, action, resource string) permissions.Grant {
	return permissions.Grant{Effect: effect, Action: action, Resource: resource}
}

// AU-2: before the bootstrap nobody is judged; it makes the first administrator and
// the roles to begin with, once; from then on who has no credential is refused, and
// what they asked for is on record.
func TestBootstrap(t *testing.T) {
	s := kerneltest.New(t, 2)
	put := event.PutPrincipal{Name: "ann"}
	require.Equal(t, failure.InvalidState, s.Command(event.PrincipalPut, put).Refusal.Code, "there is nobody to keep out yet")
	s.Must(event.AgentDefine, event.Define{Name: "before"})
	require.Empty(t, s.Bootstrap().Refusal)
	require.Equal(t, []string{
		"EVENT", "ROLE_PUT", "ROLE_PUT", "ROLE_PUT", "ROLE_PUT", "ROLE_PUT", "PRINCIPAL_PUT", "CREDENTIAL_PUT", "AUTH_BOOTSTRAPPED", "OUTCOME",
	}, s.Names())
	again := s.By(kerneltest.Admin, event.AuthBootstrap, event.BootstrapAuth{Credential: "othertoken"})
	require.Equal(t, failure.AlreadyExists, again.Refusal.Code)

	refused := s.Command(event.AgentDefine, event.Define{Name: "after"}).Refusal
	require.Equal(t, failure.Unauthenticated, refused.Code)
	require.Contains(t, refused.Hint, "OMNI_TOKEN")
	require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
	admins(s, event.AgentDefine, event.Define{Name: "after"})
	require.Equal(t, kerneltest.Admin, kerneltest.Find[*event.Recorded](s, bus.Event).Event.Principal, "an operator's actions are on record with who it was")
	require.EqualValues(t, 2, s.State().Agents.Len())
	s.Check()
}

// AU-3: each credential that is none any more, and what is said of it.
func TestCredentialsOutOfForce(t *testing.T) {
	for name, test := range map[string]struct {
		by    string
		spoil func(s *kerneltest.Sim)
		rule  string
	}{
		"none":        {"client", func(*kerneltest.Sim) {}, "has no credential"},
		"a bare name": {"ann", func(*kerneltest.Sim) {}, "has no credential"},
		"unknown":     {"ann#nosuchtoken", func(*kerneltest.Sim) {}, "the token is not known"},
		"another's":   {"admin#anns1token", func(*kerneltest.Sim) {}, "another principal's"},
		"revoked":     {ann, func(s *kerneltest.Sim) { admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "anns1token"}) }, "was revoked"},
		"expired":     {ann, func(s *kerneltest.Sim) { s.Wall += 60_001 }, "has expired"},
		"disabled": {ann, func(s *kerneltest.Sim) {
			admins(s, event.PrincipalPut, event.PutPrincipal{Name: "ann", Disabled: true})
		}, "ann is disabled"},
		"deleted":       {ann, func(s *kerneltest.Sim) { admins(s, event.PrincipalDelete, event.DeletePrincipal{Name: "ann"}) }, "the token is not known"},
		"of nobody":     {"zoe#cert:1f", func(*kerneltest.Sim) {}, "no principal zoe"},
		"revoked paper": {"ann#cert:1f", func(s *kerneltest.Sim) { admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "cert:1f"}) }, "was revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(t, "admin")
			if test.by == ann || strings.HasPrefix(test.by, "ann#cert") {
				require.Empty(t, s.By(test.by, event.AgentDefine, event.Define{}).Refusal, "before that it is in force")
			}
			test.spoil(s)
			before := kerneltest.Substance(s.State())
			refused := s.By(test.by, event.AgentDefine, event.Define{}).Refusal
			assert.Equal(t, failure.Unauthenticated, refused.Code)
			assert.Contains(t, refused.Rule, test.rule)
			assert.Equal(t, before, kerneltest.Substance(s.State()))
			s.Check()
		})
	}
}

// AU-3: a credential that is to be in force to a moment is, to the last of it.
func TestExpiryIsInclusive(t *testing.T) {
	s := judged(t, "admin")
	s.Wall += 60_000
	require.Empty(t, s.By(ann, event.AgentDefine, event.Define{}).Refusal)
}

// AU-4: deny by default, DENY before ALLOW over all roles, and the words of a refusal.
func TestRoles(t *testing.T) {
	s := judged(t)
	admins(s, event.RolePut, event.PutRole{Name: "makers", Grants: []permissions.Grant{
		roleGrant(permissions.Allow, "agent.*", "billing/**"), roleGrant(permissions.Allow, "shared.write", "n/*"),
	}})
	admins(s, event.RolePut, event.PutRole{Name: "careful", Grants: []permissions.Grant{roleGrant(permissions.Deny, "agent.kill", "**")}})
	admins(s, event.PrincipalPut, event.PutPrincipal{Name: "ann", Roles: []string{"makers", "careful"}})
	id := s.NewID()
	start := event.Start{Define: event.Define{ID: id, Name: "billing", Mode: "service", Program: kerneltest.JSON(t, callEcho)}}
	require.Empty(t, s.By(ann, event.AgentStart, start).Refusal)
	for _, test := range []struct {
		kind event.Kind
		body any
		rule string
	}{
		{event.AgentDefine, event.Define{Name: "other"}, "ann may not do agent.define on other/_"},
		{event.AgentKill, event.Kill{Agent: id}, "ann may not do agent.kill on billing/" + id},
		{event.SharedPut, event.PutShared{Namespace: "n", Key: "a/b", Value: value.Null}, "ann may not do shared.write on n/a/b"},
		{event.KernelSuspend, event.SuspendKernel{Reason: "why"}, "ann may not do cluster.suspend on _"},
		{event.RolePut, event.PutRole{Name: "careful"}, "ann may not do auth.role on careful"},
		{event.CredentialPut, event.PutCredential{ID: "another1", Principal: "admin"}, "ann may not do auth.token on admin"},
	} {
		refused := s.By(ann, test.kind, test.body).Refusal
		assert.Equal(t, failure.Forbidden, refused.Code)
		assert.Equal(t, test.rule, refused.Rule)
	}
	require.Empty(t, s.By(ann, event.SharedPut, event.PutShared{Namespace: "n", Key: "a", Value: value.Null}).Refusal)
	require.Empty(t, s.By(ann, event.AgentTrigger, event.Trigger{Agent: id, Trigger: "suspend", Force: true}).Refusal)
	admins(s, event.PrincipalPut, event.PutPrincipal{Name: "ann", Roles: []string{"makers"}})
	require.Empty(t, s.By(ann, event.AgentKill, event.Kill{Agent: id}).Refusal, "the role that denied it is hers no more")
	s.Check()
}

// AU-5: every command has a line in the table of what it wants, and these are they.
func TestWhatCommandsWant(t *testing.T) {
	s := judged(t)
	admins(s, event.AgentDefine, event.Define{ID: kerneltest.AgentID(1), Name: "a/b*%"})
	id, other := kerneltest.AgentID(1), kerneltest.AgentID(2)
	of := "a%2Fb%2A%25/" + id
	tests := map[event.Kind][]struct {
		body           any
		action, wanted string
	}{
		event.AgentDefine: {{&event.Define{}, "agent.define", "_/_"}, {&event.Define{ID: other, Name: "x"}, "agent.define", "x/" + other}},
		event.AgentStart:  {{&event.Start{Define: event.Define{Name: "x"}}, "agent.start", "x/_"}},
		event.AgentFork:   {{&event.Fork{Define: event.Define{Name: "x"}, Source: id}, "agent.fork", of}},
		event.AgentTrigger: {
			{&event.Trigger{Agent: id, Trigger: "suspend"}, "agent.suspend", of}, {&event.Trigger{Agent: other, Trigger: "jump"}, "agent.trigger", "_/" + other},
			{&event.Trigger{Agent: "no id", Trigger: "spawn"}, "agent.spawn", "_/_"},
		},
		event.AgentKill:        {{&event.Kill{Agent: id}, "agent.kill", of}},
		event.AgentSubmit:      {{&event.Submit{Agent: id}, "agent.submit", of}},
		event.AgentSend:        {{&event.Send{Agent: id}, "agent.send", of}},
		event.AgentReclassify:  {{&event.Reclassify{Agent: id}, "agent.reclassify", of}},
		event.TokenRevoke:      {{&event.RevokeToken{Agent: id}, "agent.revoke", of}},
		event.GrantRevoke:      {{&event.RevokeGrant{Agent: id}, "agent.revoke", of}},
		event.BudgetSet:        {{&event.SetBudget{Agent: id}, "agent.budget", of}},
		event.EscalationDecide: {{&event.Decide{Escalation: 9}, "escalation.decide", "_/_"}},
		event.TaskAnswer:       {{&event.AnswerTask{Agent: id}, "task.answer", of}},
		event.SharedPut:        {{&event.PutShared{Namespace: "n", Key: "a/b"}, "shared.write", "n/a/b"}, {&event.PutShared{Namespace: "n", Key: "a//b"}, "shared.write", "_/_"}},
		event.SharedDelete:     {{&event.DeleteShared{Namespace: "n", Key: "k"}, "shared.write", "n/k"}},
		event.RunPlan:          {{&event.PlanRun{Agent: event.Define{Name: "x"}}, "run.plan", "x/_"}},
		event.RunStart:         {{&event.StartRun{Run: id}, "run.start", of}},
		event.RunPause:         {{&event.PauseRun{Run: id}, "run.pause", of}},
		event.RunResume:        {{&event.ResumeRun{Run: id}, "run.resume", of}},
		event.RunKill:          {{&event.KillRun{Run: id}, "run.kill", of}},
		event.ToolRegister:     {{&event.RegisterTool{Manifest: manifest}, "tool.register", manifest.Name}},
		event.ToolDeregister:   {{&event.DeregisterTool{Name: "crm.get"}, "tool.deregister", "crm.get"}},
		event.LogArchive:       {{&event.ArchiveLog{}, "log.archive", "_"}},
		event.KernelSuspend:    {{&event.SuspendKernel{}, "cluster.suspend", "_"}},
		event.KernelResume:     {{&event.ResumeKernel{}, "cluster.resume", "_"}},
		event.OperatorOrder:    {{&event.Order{Action: "node.pause", Resource: "n1"}, "node.pause", "n1"}},
		event.AuthBootstrap:    {{&event.BootstrapAuth{}, "auth.bootstrap", "_"}},
		event.PrincipalPut:     {{&event.PutPrincipal{Name: "bob"}, "auth.principal", "bob"}},
		event.PrincipalDelete:  {{&event.DeletePrincipal{Name: "bob"}, "auth.principal", "bob"}},
		event.RolePut:          {{&event.PutRole{Name: "quiet"}, "auth.role", "quiet"}},
		event.RoleDelete:       {{&event.DeleteRole{Name: "quiet"}, "auth.role", "quiet"}},
		event.CredentialPut:    {{&event.PutCredential{Principal: "bob"}, "auth.token", "bob"}},
		event.CredentialRevoke: {{&event.RevokeCredential{ID: "anns1token"}, "auth.token", "ann"}, {&event.RevokeCredential{ID: "cert:1f"}, "auth.token", "_"}},
	}
	for kind := event.Kind(0); kind < 1000; kind++ {
		if !kind.Known() || !kind.IsCommand() {
			continue
		}
		assert.NotEmpty(t, tests[kind], "what does %s want?", kind)
		for _, test := range tests[kind] {
			wanted, ok := flows.AccessOf(s.State(), kind, test.body)
			assert.True(t, ok, kind)
			assert.Equal(t, flows.Access{Action: test.action, Resource: test.wanted}, wanted, "%s", kind)
			_, ok = flows.ReadCommand(&event.Event{Kind: kind, Body: event.Encode(test.body)})
			assert.True(t, ok, kind)
		}
	}
}

// AU-8: a node's own certificate repairs who may do what, and does nothing else; and
// what nodes propose is refused from anybody who is none.
func TestNodesAndEverybodyElse(t *testing.T) {
	s := judged(t, "admin")
	require.Equal(t, failure.Forbidden, s.By("node:n1", event.AgentDefine, event.Define{}).Refusal.Code)
	require.Empty(t, s.By("node:n1", event.CredentialPut, event.PutCredential{ID: "repair1token", Principal: "admin", Hash: [32]byte{3}}).Refusal)
	require.Empty(t, s.By("admin#repair1token", event.AgentDefine, event.Define{}).Refusal)
	admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "cert:1f"})
	require.Equal(t, failure.Unauthenticated, s.By("node:n1#cert:1f", event.PrincipalDelete, event.DeletePrincipal{Name: "ann"}).Refusal.Code)
	require.Empty(t, s.By("recovery:n1", event.LeaderStarted, nil).Refusal, "ME-8: a cluster that goes on from one survivor begins its term")
	require.Equal(t, failure.Forbidden, s.By("recovery:n1", event.Pulse, nil).Refusal.Code)
	for _, kind := range []event.Kind{event.Pulse, event.LeaderStarted, event.Checkpoint, event.ToolResult, event.ToolDispatched, event.ClusterRestored, event.KernelBooted} {
		require.Equal(t, failure.Forbidden, s.By(kerneltest.Admin, kind, nil).Refusal.Code, kind)
	}
	s.Check()
}

// AU-5: who forks an agent needs to be allowed what that shows, and what it makes.
func TestForksNeedBoth(t *testing.T) {
	s := judged(t)
	admins(s, event.RolePut, event.PutRole{Name: "forkers", Grants: []permissions.Grant{
		roleGrant(permissions.Allow, "agent.fork", "a/**"), roleGrant(permissions.Allow, "agent.define", "b/**"),
	}})
	admins(s, event.PrincipalPut, event.PutPrincipal{Name: "ann", Roles: []string{"forkers"}})
	admins(s, event.AgentDefine, event.Define{ID: kerneltest.AgentID(1), Name: "a"})
	admins(s, event.AgentDefine, event.Define{ID: kerneltest.AgentID(2), Name: "c"})
	fork := func(source int, name string) *failure.Refusal {
		refused := s.By(ann, event.AgentFork, event.Fork{Define: event.Define{Name: name}, Source: kerneltest.AgentID(source)}).Refusal
		return &refused
	}
	require.Equal(t, "ann may not do agent.fork on c/"+kerneltest.AgentID(2), fork(2, "b").Rule)
	require.Equal(t, "ann may not do agent.define on c/_", fork(1, "c").Rule)
	require.NotEqual(t, failure.Forbidden, fork(1, "b").Code, "what else is wrong with it is another matter")
}

// AU-6: a principal's sessions and keys are its own: with whichever of its credentials
// it comes, a retry has the first answer, and nobody else is told it.
func TestRetriesAreTheirPrincipals(t *testing.T) {
	s := judged(t, "admin")
	admins(s, event.CredentialPut, event.PutCredential{ID: "anns2token", Principal: "ann", Hash: [32]byte{8}})
	session := kerneltest.SessionAt(s.Wall, 1)
	by := func(principal string, body any) event.Outcome {
		e := kerneltest.InSession(session, 1, 1, event.AgentDefine, body)
		e.Principal = principal
		return s.Apply(e)
	}
	first := by(ann, event.Define{Name: "a"})
	require.Empty(t, first.Refusal)
	require.True(t, by("ann#anns2token", event.Define{Name: "a"}).Repeated)
	require.Equal(t, failure.SequenceReused, by(ann, event.Define{Name: "b"}).Refusal.Code, "replayed with another body")
	require.Equal(t, failure.SequenceReused, by(kerneltest.Admin, event.Define{Name: "a"}).Refusal.Code, "replayed by another")
	admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "anns1token"})
	require.Equal(t, failure.Unauthenticated, by(ann, event.Define{Name: "a"}).Refusal.Code, "replayed with a revoked token")

	keyed := func(principal string) event.Outcome {
		return s.Apply(event.Event{Kind: event.AgentDefine, Principal: principal, IdempotencyKey: "k", Body: event.Encode(event.Define{Name: "k"})})
	}
	require.Empty(t, keyed("ann#anns2token").Refusal)
	require.True(t, keyed("ann#cert:1f").Repeated)
	require.False(t, keyed(kerneltest.Admin).Repeated, "the same key is another one of another principal")
	s.Check()
}

// AU-1: the rules of what may be made, one by one.
func TestRulesOfPrincipals(t *testing.T) {
	long := strings.Repeat("x", 257)
	for name, test := range map[string]struct {
		kind  event.Kind
		body  any
		code  failure.Code
		field string
	}{
		"no name":              {event.PrincipalPut, event.PutPrincipal{}, failure.InvalidArgument, "name"},
		"a node's name":        {event.PrincipalPut, event.PutPrincipal{Name: "node:n1"}, failure.InvalidArgument, "name"},
		"a name with a mark":   {event.PrincipalPut, event.PutPrincipal{Name: "a#b"}, failure.InvalidArgument, "name"},
		"a long name":          {event.PrincipalPut, event.PutPrincipal{Name: strings.Repeat("a", 64)}, failure.InvalidArgument, "name"},
		"an odd kind":          {event.PrincipalPut, event.PutPrincipal{Name: "bob", Kind: "robot"}, failure.InvalidArgument, "kind"},
		"a long description":   {event.PrincipalPut, event.PutPrincipal{Name: "bob", Description: long}, failure.InvalidArgument, "description"},
		"an unknown role":      {event.PrincipalPut, event.PutPrincipal{Name: "bob", Roles: []string{"reader", "nope"}}, failure.NotFound, "roles[1]"},
		"many roles":           {event.PrincipalPut, event.PutPrincipal{Name: "bob", Roles: make([]string, 33)}, failure.InvalidArgument, "roles"},
		"it is there":          {event.PrincipalPut, event.PutPrincipal{Name: "ann", Version: new(uint64)}, failure.VersionConflict, "version"},
		"nobody to delete":     {event.PrincipalDelete, event.DeletePrincipal{Name: "bob"}, failure.NotFound, "name"},
		"a long reason":        {event.PrincipalDelete, event.DeletePrincipal{Name: "ann", Reason: long}, failure.InvalidArgument, "reason"},
		"the role admin":       {event.RolePut, event.PutRole{Name: "admin"}, failure.InvalidArgument, "name"},
		"a bad role's name":    {event.RolePut, event.PutRole{Name: "A"}, failure.InvalidArgument, "name"},
		"a bad grant":          {event.RolePut, event.PutRole{Name: "r", Grants: []permissions.Grant{roleGrant(permissions.Allow, "*", "**")}}, failure.InvalidArgument, "grants[0].action"},
		"an escalating role":   {event.RolePut, event.PutRole{Name: "r", Grants: []permissions.Grant{roleGrant(permissions.Escalate, "agent.kill", "**")}}, failure.InvalidArgument, "grants[0].effect"},
		"role admin deleted":   {event.RoleDelete, event.DeleteRole{Name: "admin"}, failure.InvalidArgument, "name"},
		"a role in use":        {event.RoleDelete, event.DeleteRole{Name: "operator"}, failure.InvalidState, "name"},
		"no role to delete":    {event.RoleDelete, event.DeleteRole{Name: "nope"}, failure.NotFound, "name"},
		"a token's bad id":     {event.CredentialPut, event.PutCredential{ID: "short", Principal: "ann"}, failure.InvalidArgument, "id"},
		"a token as paper":     {event.CredentialPut, event.PutCredential{ID: "cert:1f", Principal: "ann"}, failure.InvalidArgument, "id"},
		"a token of nobody":    {event.CredentialPut, event.PutCredential{ID: "bobs1token", Principal: "bob"}, failure.NotFound, "principal"},
		"a token's id twice":   {event.CredentialPut, event.PutCredential{ID: "anns1token", Principal: "ann"}, failure.AlreadyExists, "id"},
		"a token that is over": {event.CredentialPut, event.PutCredential{ID: "anns2token", Principal: "ann", NotAfterMillis: 5}, failure.InvalidArgument, "not_after_ms"},
		"nothing to revoke":    {event.CredentialRevoke, event.RevokeCredential{ID: "anns9token"}, failure.NotFound, "id"},
		"a bad serial number":  {event.CredentialRevoke, event.RevokeCredential{ID: "cert:1g"}, failure.InvalidArgument, "id"},
		"a token's expiry":     {event.CredentialRevoke, event.RevokeCredential{ID: "anns1token", NotAfterMillis: 5}, failure.InvalidArgument, "not_after_ms"},
	} {
		t.Run(name, func(t *testing.T) {
			s := judged(t, "operator")
			before := kerneltest.Substance(s.State())
			refused := s.By(kerneltest.Admin, test.kind, test.body).Refusal
			assert.Equal(t, test.code, refused.Code, refused.Rule)
			assert.Equal(t, test.field, refused.Field)
			assert.Equal(t, before, kerneltest.Substance(s.State()))
		})
	}
}

// AU-7: the tables are bounded; credentials that are over make room for new ones.
func TestCredentialsMakeRoom(t *testing.T) {
	s := judged(t)
	for i := 1; i < principals.MaxTokens; i++ {
		admins(s, event.CredentialPut, event.PutCredential{ID: fmt.Sprintf("more%06d", i), Principal: "ann"})
	}
	refused := s.By(kerneltest.Admin, event.CredentialPut, event.PutCredential{ID: "onemore01", Principal: "ann"}).Refusal
	require.Equal(t, failure.LimitReached, refused.Code)
	require.Equal(t, "principal", refused.Field)
	admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "more000001"})
	admins(s, event.CredentialPut, event.PutCredential{ID: "onemore01", Principal: "ann"})

	full := state.New("default")
	full.Config, full.Clock = s.State().Config, s.Wall
	full.Principals.Load(&principals.Bootstrap{Seq: 1})
	full.Principals.LoadPrincipal(&principals.Principal{Name: "admin"})
	full.Principals.LoadCredential(&principals.Credential{ID: "arevoked1", RevokedAt: 1})
	full.Principals.LoadCredential(&principals.Credential{ID: "cert:1f", RevokedAt: 1})
	for i := full.Principals.Credentials(); i < principals.MaxCredentials; i++ {
		full.Principals.LoadCredential(&principals.Credential{ID: fmt.Sprintf("zfull%06d", i), Principal: "nobody", NotAfter: 1})
	}
	var out bus.Batch
	view := flows.View{State: full, Seq: 9}
	require.Nil(t, flows.PutCredential(view, &event.PutCredential{ID: "newest001", Principal: "admin"}, "by", &out))
	require.Len(t, out.Records(), 2)
	forgotten := out.Records()[0].Body.(*principals.ForgottenBody)
	require.Len(t, forgotten.IDs, 256)
	require.Equal(t, "arevoked1", forgotten.IDs[0], "it was revoked")
	full.Principals.ApplyForgotten(forgotten)
	require.Equal(t, principals.MaxCredentials-256, full.Principals.Credentials())
	require.Nil(t, full.Principals.Credential("arevoked1"))
	require.NotNil(t, full.Principals.Credential("cert:1f"), "a certificate stays revoked as long as it is one")
}

// AU-2: a snapshot keeps it all, and before the bootstrap has nothing of it.
func TestSnapshotOfPrincipals(t *testing.T) {
	s := kerneltest.New(t, 1)
	for _, one := range sections(s) {
		require.Less(t, one.Kind, byte(40), "a cluster without authorization writes what it always wrote")
	}
	s = judged(t, "operator")
	admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "cert:1f", Reason: "lost", NotAfterMillis: 9})
	require.NoError(t, restore(sections(s)))
	restored := kerneltest.Restore(t, s.State(), s.Lookup)
	require.Equal(t, kernel.Digest(s.State()), kernel.Digest(restored.Publish()))
	s.Replicas[0] = restored
	require.Equal(t, failure.Forbidden, s.By(ann, event.AgentDefine, event.Define{}).Refusal.Code)
	require.Empty(t, s.By(ann, event.KernelSuspend, event.SuspendKernel{Reason: "why"}).Refusal, "its roles are compiled again")
	s.Check()
}

// AU-10: what nodes do in an operator's name is judged like a command and on record
// before it is done, with who ordered it; what is refused leaves nothing else.
func TestOrders(t *testing.T) {
	s := judged(t, "reader")
	pausing := event.Order{Action: "node.pause", Resource: "n1", Detail: "a new disk"}
	require.Equal(t, "ann may not do node.pause on n1", s.By(ann, event.OperatorOrder, pausing).Refusal.Rule)
	require.Equal(t, []string{"EVENT", "OUTCOME"}, s.Names())
	admins(s, event.RolePut, event.PutRole{Name: "quiet", Grants: []permissions.Grant{roleGrant(permissions.Allow, "node.*", "n1")}})
	admins(s, event.PrincipalPut, event.PutPrincipal{Name: "ann", Roles: []string{"quiet"}})
	require.Empty(t, s.By(ann, event.OperatorOrder, pausing).Refusal)
	require.Equal(t, []string{"EVENT", "OPERATOR_ORDERED", "OUTCOME"}, s.Names())
	require.Equal(t, &event.Ordered{By: ann, Order: pausing}, kerneltest.Find[*event.Ordered](s, bus.OperatorOrdered))
	require.Equal(t, failure.Forbidden, s.By(ann, event.OperatorOrder, event.Order{Action: "node.pause", Resource: "n2"}).Refusal.Code)
	admins(s, event.CredentialRevoke, event.RevokeCredential{ID: "anns1token"})
	require.Equal(t, failure.Unauthenticated, s.By(ann, event.OperatorOrder, pausing).Refusal.Code)
	require.Equal(t, failure.Forbidden, s.By("node:n1", event.OperatorOrder, pausing).Refusal.Code, "no node orders anything")
	s.Check()

	s = kerneltest.New(t, 1)
	long := strings.Repeat("x", 257)
	for _, wrong := range []event.Order{
		{}, {Action: "node.pause"}, {Action: "node.", Resource: long}, {Action: "node.pause", Resource: "n1", Detail: long},
		{Action: "node.pause", Resource: "n1", Detail: "a\nb"}, {Action: "node.*", Resource: "n1"}, {Action: "node." + strings.Repeat("x", 60), Resource: "n1"},
		{Action: "agent.kill", Resource: "a/b"}, {Action: "cluster.suspend", Resource: "_"}, {Action: "auth.token", Resource: "admin"},
	} {
		require.Equal(t, failure.InvalidArgument, s.Command(event.OperatorOrder, wrong).Refusal.Code, "%+v", wrong)
	}
	s.Check()
}

// AU-10: nobody's order is recorded before the kernel version that has orders.
func TestNoOrdersAtVersion1(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { *c = c.At(1) })
	require.Equal(t, failure.VersionTooLow, s.Command(event.OperatorOrder, event.Order{Action: "node.pause", Resource: "n1"}).Refusal.Code)
}
