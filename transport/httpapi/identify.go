package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/identity"
)

// asker is who a request says that it comes from, and what it wants. It is in the
// request's context. Whether that is so is asked of a state, again and again while the
// request lasts.
type asker struct {
	token   *api.Bearer        // nil for none
	hash    [32]byte           // of its secret
	paper   *principals.Caller // of a client certificate; nil for none
	until   time.Time          // when that ends
	refusal *failure.Refusal   // what is wrong with what it shows, whoever is asked
	wanted  func(s *state.State) flows.Access
	free    bool // the route is open to everybody
}

type askerKey struct{}

func askerIn(ctx context.Context) *asker {
	ask, _ := ctx.Value(askerKey{}).(*asker)
	return ask
}

// identify reads what a request shows of who sends it: a bearer token, or else the
// client certificate of its connection. It refuses nobody: that takes a state, and some
// routes are open to everybody.
func (s *Server) identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ask := &asker{}
		if given := r.Header.Get("Authorization"); given != "" {
			ask.read(given)
		} else {
			ask.certified(r, s.node.ClusterID())
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), askerKey{}, ask)))
	})
}

func (a *asker) read(header string) {
	scheme, text, _ := strings.Cut(header, " ")
	token, ok := api.ParseBearer(text)
	if !strings.EqualFold(scheme, "Bearer") || !ok {
		a.refusal = &failure.Refusal{
			Code: failure.Unauthenticated, Field: "Authorization", Rule: "must be Bearer and a token, which begins with omni_",
			Hint: "ask an administrator for one: omni auth token create",
		}
		return
	}
	a.token, a.hash = &token, sha256.Sum256([]byte(token.Secret))
}

// certified reads a client certificate that the connection verified.
func (a *asker) certified(r *http.Request, clusterID string) {
	who, shown, err := identity.Caller(r.TLS, clusterID, time.Now())
	switch {
	case !shown:
		return
	case err != nil:
		a.refusal = &failure.Refusal{Code: failure.Unauthenticated, Rule: err.Error(), Hint: "omni tls inspect FILE shows what a certificate says; this cluster is " + clusterID}
		return
	case who.Kind == identity.Principal && principals.CheckName("", who.Name) != nil:
		a.refusal = &failure.Refusal{Code: failure.Unauthenticated, Rule: "the client certificate's name cannot be a principal's", Hint: "issue one for a name that omni auth principal list shows"}
		return
	}
	caller := principals.Caller{Name: who.Name}
	if who.Kind == identity.Node {
		caller = principals.NodeCaller(who.Name)
	}
	caller.Credential = principals.CertificatePrefix + who.Serial
	a.paper, a.until = &caller, who.NotAfter
}

// caller is who it is, as a state knows it; a refusal when that is nobody, or nobody
// any more. While authorization is off everybody is the client.
func (a *asker) caller(s *state.State) (principals.Caller, *failure.Refusal) {
	switch {
	case !s.Principals.On():
		return principals.Caller{Name: principal}, nil
	case a == nil:
		return principals.Caller{}, s.Principals.Admit(principals.Caller{}, s.Clock)
	case a.refusal != nil:
		return principals.Caller{}, a.refusal
	}
	var who principals.Caller
	switch {
	case a.token != nil:
		who = principals.Caller{Credential: a.token.ID}
		if row := s.Principals.Credential(a.token.ID); row != nil {
			who.Name = row.Principal
			if subtle.ConstantTimeCompare(row.Hash[:], a.hash[:]) != 1 {
				return who, &failure.Refusal{Code: failure.Unauthenticated, Rule: "the token is not known", Hint: "it was not copied whole, was deleted, or is another cluster's"}
			}
		}
	case a.paper != nil && time.Now().After(a.until):
		return *a.paper, &failure.Refusal{Code: failure.Unauthenticated, Rule: "the client certificate expired while the connection was open", Hint: "connect with a new one"}
	case a.paper != nil:
		who = *a.paper
	}
	return who, s.Principals.Admit(who, nowOf(s))
}

// nowOf is the later of the kernel's clock and this machine's: a credential that is
// over by either is over.
func nowOf(s *state.State) int64 { return max(s.Clock, time.Now().UnixMilli()) }

// may says whether whoever asks may do what it wants, as a state knows it.
func (a *asker) may(s *state.State, wanted flows.Access) (principals.Caller, *failure.Refusal) {
	who, refusal := a.caller(s)
	if refusal == nil {
		refusal = flows.AuthorizeAccess(s, who, wanted, nowOf(s))
	}
	return who, refusal
}

// still says whether the request may go on, as a state knows it.
func (a *asker) still(s *state.State) *failure.Refusal {
	if !s.Principals.On() || a != nil && a.free {
		return nil
	}
	var refusal *failure.Refusal
	if a != nil && a.wanted != nil {
		_, refusal = a.may(s, a.wanted(s))
	} else {
		_, refusal = a.caller(s)
	}
	return refusal
}

// nameOf says who a request is from. known is false where that is not proven.
func (s *Server) nameOf(r *http.Request) (name string, known bool) {
	if st, _ := s.node.Known(); st != nil && st.Principals.On() {
		if who, refusal := askerIn(r.Context()).caller(st); refusal == nil {
			return who.Name, true
		}
		return "nobody", false
	}
	return principal, false
}
