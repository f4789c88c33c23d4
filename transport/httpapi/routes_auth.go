package httpapi

import (
	"net/http"

	"github.com/omnikernel/omnikernel/transport/api"
)

// authRoutes are what there is about who may do what (AU-1 … AU-9).
func (s *Server) authRoutes() []*route {
	const auth = kernelPath + "/auth"
	post := func(path, id, summary, about string, making making) *route {
		return &route{
			method: http.MethodPost, path: auth + path, id: id, tag: "auth", summary: summary, about: about,
			command: true, status: http.StatusOK, answer: typeOf[api.Done](), handle: s.command(http.StatusOK, api.MaxBodyBytes, making),
		}
	}
	bootstrap := post("/bootstrap", "bootstrap-auth", "Turn authorization on, once and for ever",
		"From this event on everybody is judged. It makes the role and the principal admin, the first token, and the roles reader, operator, author and worker.", s.makeBootstrap)
	bootstrap.body = typeOf[api.BootstrapBody]()
	principal := post("/principals/{name}", "put-principal", "Make a principal, or replace what is known of one",
		"What is left out is empty afterwards.", s.makePrincipal)
	principal.body, principal.noBody = typeOf[api.PrincipalBody](), true
	noPrincipal := post("/principals/{name}/delete", "delete-principal", "Take a principal away, and its tokens", "", s.makeDeletePrincipal)
	noPrincipal.body, noPrincipal.noBody = typeOf[api.ReasonBody](), true
	role := post("/roles/{name}", "put-role", "Make a role, or replace its grants", "What is left out is empty afterwards.", s.makeRole)
	role.body, role.noBody = typeOf[api.RoleBody](), true
	noRole := post("/roles/{name}/delete", "delete-role", "Take a role away that no principal has", "", s.makeDeleteRole)
	noRole.body, noRole.noBody = typeOf[api.ReasonBody](), true
	token := post("/credentials", "create-credential", "Make a token of a principal",
		"Whoever asks makes the token, keeps its secret, and tells the cluster the secret's SHA-256.", s.makeCredential)
	token.body = typeOf[api.CredentialBody]()
	revoke := post("/credentials/{credential}/revoke", "revoke-credential", "End a token, or a client certificate",
		"The address names the token's id, or cert: and the certificate's serial number. It is in force from this event on, and ends what lasts: watches, exports, polls.", s.makeRevokeCredential)
	revoke.body, revoke.noBody = typeOf[api.RevokeCredentialBody](), true
	return append([]*route{bootstrap, principal, noPrincipal, role, noRole, token, revoke}, s.authReads(auth)...)
}

func (s *Server) authReads(auth string) []*route {
	afterName := parameter{name: "after", about: "name to start after", schema: "string"}
	return []*route{
		s.reader(&route{
			path: auth + "/status", id: "auth-status", tag: "auth", summary: "Are callers judged?", query: with(), answer: typeOf[api.AuthStatus](),
		}, s.getAuthStatus),
		s.reader(&route{
			path: auth + "/whoami", id: "auth-whoami", tag: "auth", summary: "Who the request comes from", query: with(), answer: typeOf[api.Whoami](),
		}, s.getWhoami),
		s.reader(&route{
			path: auth + "/principals", id: "list-principals", tag: "auth", summary: "Principals, by name",
			query: with(afterName, limitParam), answer: typeOf[api.PrincipalPage](),
		}, s.listPrincipals),
		s.reader(&route{
			path: auth + "/principals/{name}", id: "get-principal", tag: "auth", summary: "One principal, with its tokens",
			query: with(), answer: typeOf[api.PrincipalAnswer](),
		}, s.getPrincipal),
		s.reader(&route{
			path: auth + "/roles", id: "list-roles", tag: "auth", summary: "Roles, by name", query: with(afterName, limitParam), answer: typeOf[api.RolePage](),
		}, s.listRoles),
		s.reader(&route{
			path: auth + "/roles/{name}", id: "get-role", tag: "auth", summary: "One role, with its grants", query: with(), answer: typeOf[api.RoleAnswer](),
		}, s.getRole),
		s.reader(&route{
			path: auth + "/credentials", id: "list-credentials", tag: "auth", summary: "Tokens, and certificates that were revoked, by id",
			query: with(
				parameter{name: "principal", about: "only this principal's", schema: "string"},
				parameter{name: "after", about: "id to start after", schema: "string"}, limitParam,
			), answer: typeOf[api.CredentialPage](),
		}, s.listCredentials),
	}
}
