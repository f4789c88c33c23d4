package logaudit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/principals"
)

// guarded: the administrator gives ann, bob and carol tokens and roles. Ann starts agent
// 1 and may not kill it; bob, whose token ends, starts agent 2; carol is disabled. Ann's
// second token is revoked, and what comes with it is refused; bob comes too late.
func guarded(t *testing.T) *kerneltest.Sim {
	s := kerneltest.New(t, 1)
	require.Empty(t, s.Bootstrap().Refusal)
	admin := func(kind event.Kind, body any) {
		t.Helper()
		require.Empty(t, s.By(kerneltest.Admin, kind, body).Refusal)
	}
	admin(event.RolePut, event.PutRole{Name: "starters", Grants: kerneltest.Everything()[:0]})
	admin(event.RolePut, event.PutRole{Name: "spare"})
	admin(event.PrincipalPut, event.PutPrincipal{Name: "ann", Roles: []string{"author"}})
	admin(event.PrincipalPut, event.PutPrincipal{Name: "bob", Roles: []string{"author"}})
	admin(event.PrincipalPut, event.PutPrincipal{Name: "carol", Roles: []string{"starters"}, Disabled: true})
	admin(event.CredentialPut, event.PutCredential{ID: "anntoken1", Principal: "ann", Hash: [32]byte{2}})
	admin(event.CredentialPut, event.PutCredential{ID: "anntoken2", Principal: "ann", Hash: [32]byte{3}})
	admin(event.CredentialPut, event.PutCredential{ID: "bobtoken1", Principal: "bob", Hash: [32]byte{4}, NotAfterMillis: s.Wall + 1000})
	admin(event.CredentialPut, event.PutCredential{ID: "sparetoken", Principal: "bob", Hash: [32]byte{5}})
	start := event.Start{Define: event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`)}}
	require.Empty(t, s.By("ann#anntoken2", event.AgentStart, start).Refusal)
	require.Equal(t, failure.Forbidden, s.By("ann#anntoken1", event.LogArchive, event.ArchiveLog{}).Refusal.Code)
	require.Empty(t, s.By("bob#bobtoken1", event.AgentStart, start).Refusal)
	admin(event.CredentialRevoke, event.RevokeCredential{ID: "anntoken2", Reason: "lost"})
	require.Equal(t, failure.Unauthenticated, s.By("ann#anntoken2", event.AgentStart, start).Refusal.Code)
	s.Pass(1001)
	require.Equal(t, failure.Unauthenticated, s.By("bob#bobtoken1", event.AgentStart, start).Refusal.Code)
	require.Empty(t, s.By("node:test", event.CredentialRevoke, event.RevokeCredential{ID: "cert:7", Reason: "lost"}).Refusal)
	admin(event.RoleDelete, event.DeleteRole{Name: "spare"})
	admin(event.PrincipalDelete, event.DeletePrincipal{Name: "carol"})
	s.Pulse()
	return s
}

// asker changes who an event is said to come from, and gives the event's record.
func (f *forgery) asker(index int, principal string) *written {
	r := f.blocks[index].records[0]
	edit(f, r, func(b *event.Recorded) { b.Event.Principal = principal })
	return r
}

// asked is the place of the nth event of a kind.
func (f *forgery) asked(kind event.Kind, n int) int {
	for i, block := range f.blocks {
		b, ok := event.DecodeRecorded(block.records[0].body)
		require.True(f.t, ok)
		if b.Event.Kind == kind {
			if n == 0 {
				return i
			}
			n--
		}
	}
	require.FailNow(f.t, "there is no such event")
	return 0
}

// outcome changes what became of an event, and gives the event's record.
func (f *forgery) outcome(index int, code failure.Code) *written {
	for _, r := range f.blocks[index].records {
		if bus.Kind(r.Kind) == bus.Outcome {
			edit(f, r, func(o *event.Outcome) { o.Refusal = failure.Refusal{Code: code} })
		}
	}
	return f.blocks[index].records[0]
}

// peopleForgeries are lies about who asked, and about who may (AU-3).
var peopleForgeries = []untruth{
	{"a command behind its revocation", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.outcome(f.asked(event.AgentStart, 2), "")
	}},
	{"a command after its token's end", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.outcome(f.asked(event.AgentStart, 3), "")
	}},
	{"a command with a token of nobody", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(f.asked(event.AgentStart, 0), "ann#unknowntoken")
	}},
	{"a command with another's token", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(f.asked(event.AgentStart, 0), "ann#bobtoken1")
	}},
	{"a command with nothing", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(f.asked(event.AgentStart, 0), "client")
	}},
	{"a command of somebody who is disabled", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(f.asked(event.AgentStart, 0), "carol#cert:1")
	}},
	{"a command of somebody who is not there", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(f.asked(event.AgentStart, 0), "dave#cert:1")
	}},
	{"a node's command", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(f.asked(event.AgentStart, 0), "node:test")
	}},
	{"a client's pulse", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.asker(len(f.blocks)-1, "ann#anntoken1")
	}},
	{"somebody known who is refused as nobody", logaudit.Principal, "guarded", func(f *forgery) *written {
		return f.outcome(f.asked(event.LogArchive, 0), failure.Unauthenticated)
	}},
	{"a revocation that nobody asked for", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.TickScheduled, 1, 0)
		f.put(r, bus.Record{Kind: bus.CredentialRevoked, Body: &principals.RevokedBody{ID: "cert:9", By: "ann#anntoken2"}})
		return r
	}},
	{"a principal by somebody else", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.PrincipalPut, 0, 1)
		edit(f, r, func(b *principals.PrincipalBody) { b.By = "ann" })
		return r
	}},
	{"authorization twice", logaudit.Principal, "guarded", func(f *forgery) *written {
		block := f.blocks[f.asked(event.AuthBootstrap, 0)]
		r := f.nth(bus.AuthBootstrapped, 0, 0)
		require.Equal(f.t, block.records[len(block.records)-2], r)
		f.copy(block.last(), r) // over its outcome
		return block.last()
	}},
	{"a role that there is not", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.PrincipalPut, 0, 3)
		edit(f, r, func(b *principals.PrincipalBody) { b.Roles = []string{"nobodys"} })
		return r
	}},
	{"a token of an id that there was", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.CredentialPut, 0, -1)
		edit(f, r, func(b *principals.CredentialBody) { b.ID, b.Principal = "anntoken1", "ann" })
		return r
	}},
	{"a token for somebody who is not there", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.CredentialPut, 0, -1)
		edit(f, r, func(b *principals.CredentialBody) { b.Principal = "dave" })
		return r
	}},
	{"a revocation of a token that there is not", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.CredentialRevoked, 0, -1)
		edit(f, r, func(b *principals.RevokedBody) { b.ID = "unknowntoken" })
		return r
	}},
	{"a second revocation", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.CredentialRevoked, 0, -1)
		edit(f, r, func(b *principals.RevokedBody) { b.ID = "anntoken2" })
		return r
	}},
	{"the end of a role that there is not", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.RoleDeleted, 0, 0)
		edit(f, r, func(b *principals.DeletedBody) { b.Name = "nobodys" })
		return r
	}},
	{"the end of a role that somebody has", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.RoleDeleted, 0, 0)
		edit(f, r, func(b *principals.DeletedBody) { b.Name = "author" })
		return r
	}},
	{"the end of somebody who is not there", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.PrincipalDeleted, 0, 0)
		edit(f, r, func(b *principals.DeletedBody) { b.Name = "dave" })
		return r
	}},
	{"a token in force that is forgotten", logaudit.Principal, "guarded", func(f *forgery) *written {
		r := f.nth(bus.TickScheduled, 1, 0)
		f.put(r, bus.Record{Kind: bus.CredentialsForgotten, Body: &principals.ForgottenBody{IDs: []string{"sparetoken"}}})
		return r
	}},
}

// LO-12, AU-3: histories in which callers are judged, and those who change who may do
// what, are found to be right.
func TestGuardedHistoriesAreInOrder(t *testing.T) {
	refused := 0
	for seed := range uint64(12) {
		h := kerneltest.NewGuarded(t, 1, 60, kerneltest.NewSeeded(seed))
		h.Run(300)
		require.Empty(t, audit(t, h.Blocks).Findings, "seed %d", seed)
		for _, r := range h.All() {
			if o, ok := r.Content.(*event.Outcome); ok && o.Refusal.Code == failure.Unauthenticated {
				refused++
			}
		}
	}
	require.Greater(t, refused, 100)
}
