package httpapi

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
)

// guard lets only those through to a route who may (AU-9). What is read is judged once
// more in the state that answers, and a command by the kernel.
func (s *Server) guard(rt *route, next http.HandlerFunc) http.HandlerFunc {
	wants := s.access[rt.id]
	return func(w http.ResponseWriter, r *http.Request) {
		ask := askerIn(r.Context())
		if wants.rule == open {
			ask.free = true
			next(w, r)
			return
		}
		if wants.rule == byAction || wants.rule == byNode || wants.rule == denied {
			ask.wanted = func(s *state.State) flows.Access { return wants.of(s, r) }
		}
		if e := s.admit(r, ask, wants.rule); e != nil {
			s.fail(w, e)
			return
		}
		next(w, r)
	}
}

func (s *Server) admit(r *http.Request, ask *asker, rule rule) *api.Error {
	known, current := s.node.Known()
	if known == nil || !current && !known.Principals.On() {
		return s.beforeKnown(r, rule)
	}
	if !known.Principals.On() {
		return nil
	}
	ctx, cancel := s.within(r, s.options.ReadTimeout)
	defer cancel()
	return s.judged(ctx, ask, ask.still)
}

// beforeKnown is the rule of a node that does not know yet whether authorization is on:
// it has no state, or an old one. It can neither take commands nor answer reads of the
// kernel then, and says so itself. What it says of itself it tells everybody, and does
// what it is told by whoever is on its machine.
func (s *Server) beforeKnown(r *http.Request, rule rule) *api.Error {
	acts := rule == byNode || rule == byAction || rule == byOrder
	if !acts || r.Method == http.MethodGet || local(r.RemoteAddr) {
		return nil
	}
	return refused(api.CodeNotCaughtUp, "", "this node does not know yet who may do this: it has not caught up since it started", "do it on the node's own machine, or ask again")
}

func local(remote string) bool {
	host, _, err := net.SplitHostPort(remote)
	return err != nil || net.ParseIP(host).IsLoopback() // no TCP: a test's pipe
}

// judged asks this node's state, and when that refuses, one that is as fresh as can be:
// a token that was made a moment ago may not have come here yet. Who shows nothing is
// nobody in every state.
func (s *Server) judged(ctx context.Context, ask *asker, may func(*state.State) *failure.Refusal) *api.Error {
	known, _ := s.node.Known()
	refusal := may(known)
	if refusal == nil {
		return nil
	}
	if ask.token != nil || ask.paper != nil {
		view, err := s.node.Read(ctx, cluster.Consistency{Level: cluster.Linearizable})
		if err != nil {
			return s.readError(err)
		}
		refusal = may(view.State)
	}
	if refusal == nil {
		return nil
	}
	return atDoor(refusal)
}

// mayCommand says whether whoever sends a request may give a command, and who that is.
// The kernel judges it again, at its place in the log.
func (s *Server) mayCommand(ctx context.Context, kind event.Kind, command any) (by string, e *api.Error) {
	ask := askerIn(ctx)
	known, _ := s.node.Known()
	if known == nil || !known.Principals.On() {
		if ask == nil || ask.token == nil && ask.paper == nil {
			return principal, nil
		}
		view, err := s.node.Read(ctx, cluster.Consistency{Level: cluster.Stale})
		if err != nil { // as whatever would be proposed
			return principal, s.readError(err)
		}
		known = view.State
	}
	if !known.Principals.On() {
		return principal, nil
	}
	if kind == event.AuthBootstrap { // once on it stays so: nobody need fill the log with this
		return principal, refused(string(failure.AlreadyExists), "", "authorization is on already", "ask an administrator for a token; if every one is lost: docs/security.md, \"When every administrator's token is lost\"")
	}
	var who principals.Caller
	e = s.judged(ctx, ask, func(st *state.State) (refusal *failure.Refusal) {
		if who, refusal = ask.caller(st); refusal != nil {
			return refusal
		}
		return flows.AuthorizeCommand(st, who, kind, command)
	})
	return who.String(), e
}

// mayStill says why a request that lasts may not go on.
func (s *Server) mayStill(ctx context.Context) *api.Error {
	known, _ := s.node.Known()
	if known == nil {
		return nil
	}
	if refusal := askerIn(ctx).still(known); refusal != nil {
		return atDoor(refusal)
	}
	return nil
}

// expiry is when the credential expires that a request came with; nil for never.
func (s *Server) expiry(ctx context.Context) <-chan time.Time {
	known, _ := s.node.Known()
	if known == nil || !known.Principals.On() {
		return nil
	}
	ask := askerIn(ctx)
	who, refusal := ask.caller(known)
	if refusal != nil {
		return nil // what comes next says so
	}
	if ask != nil && ask.paper != nil && ask.token == nil {
		return time.After(time.Until(ask.until) + time.Millisecond)
	}
	row := known.Principals.Credential(who.Credential)
	if row == nil || row.NotAfter == 0 {
		return nil
	}
	return time.After(time.Duration(row.NotAfter+1-nowOf(known)) * time.Millisecond)
}
