package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// judgedDoor is a door whose cluster judges callers, with the tokens of its people.
type judgedDoor struct {
	*door
	tokens map[string]api.Bearer
}

func newJudgedDoor(t *testing.T) *judgedDoor {
	d := &judgedDoor{newDoor(t), make(map[string]api.Bearer)}
	d.bootstrap()
	return d
}

func (d *judgedDoor) bootstrap() {
	d.t.Helper()
	admin := api.NewBearer()
	d.tokens["admin"] = admin
	decode[api.Done](d.t, d.post("/auth/bootstrap", fmt.Sprintf(`{"credential":%q,"hash":%q}`, admin.ID, admin.Hash())), http.StatusOK)
}

// as sends somebody's request.
func (d *judgedDoor) as(who, method, path, body string, headers ...string) reply {
	d.t.Helper()
	return d.send(method, path, body, append(headers, "Authorization", "Bearer "+d.tokens[who].String())...)
}

func (d *judgedDoor) admin(path, body string) reply {
	d.t.Helper()
	return d.as("admin", http.MethodPost, kernelPath+"/auth"+path, body)
}

// person makes somebody who has a token and a role.
func (d *judgedDoor) person(name, role string) {
	d.t.Helper()
	decode[api.Done](d.t, d.admin("/principals/"+name, fmt.Sprintf(`{"roles":[%q]}`, role)), http.StatusOK)
	d.token(name, "")
}

func (d *judgedDoor) token(name, more string) {
	d.t.Helper()
	token := api.NewBearer()
	d.tokens[name] = token
	decode[api.Done](d.t, d.admin("/credentials", fmt.Sprintf(`{"id":%q,"principal":%q,"hash":%q%s}`, token.ID, name, token.Hash(), more)), http.StatusOK)
}

// AU-9: what the API answers to each credential that is none, for a command, for a
// read, for what the node says of itself and for a stream.
func TestBadCredentials(t *testing.T) {
	d := newJudgedDoor(t)
	for _, name := range []string{"revoked", "disabled", "deleted", "reader"} {
		d.person(name, "reader")
	}
	decode[api.Done](t, d.admin("/credentials/"+d.tokens["revoked"].ID+"/revoke", `{"reason":"lost"}`), http.StatusOK)
	decode[api.Done](t, d.admin("/principals/disabled", `{"disabled":true}`), http.StatusOK)
	decode[api.Done](t, d.admin("/principals/deleted/delete", ``), http.StatusOK)
	d.person("expired", "admin")
	d.token("expired", fmt.Sprintf(`,"not_after_ms":%d`, time.Now().UnixMilli()+3000))
	require.Eventually(t, func() bool {
		return d.as("expired", http.MethodGet, kernelPath+"/agents", "").status == http.StatusUnauthorized
	}, 30*time.Second, 20*time.Millisecond)
	other := api.NewBearer()
	spoilt := d.tokens["reader"]
	spoilt.Secret = other.Secret
	for name, header := range map[string]string{
		"none": "", "malformed": "Bearer hello", "another scheme": "Basic " + d.tokens["reader"].String(), "cut off": "Bearer " + d.tokens["reader"].String()[:40],
		"unknown": "Bearer " + other.String(), "a known id with another secret": "Bearer " + spoilt.String(),
		"expired": "Bearer " + d.tokens["expired"].String(), "revoked": "Bearer " + d.tokens["revoked"].String(),
		"of a disabled principal": "Bearer " + d.tokens["disabled"].String(), "of a deleted principal": "Bearer " + d.tokens["deleted"].String(),
	} {
		t.Run(name, func(t *testing.T) {
			for _, request := range [][3]string{
				{http.MethodPost, kernelPath + "/agents", `{}`}, {http.MethodGet, kernelPath + "/agents", ""}, {http.MethodGet, "/v1/node", ""},
				{http.MethodGet, kernelPath + "/watch?from=1", ""}, {http.MethodPost, "/v1/node/pause", `{}`}, {http.MethodPost, kernelPath + "/workers/poll", `{"tools":["a"]}`},
				{http.MethodPost, kernelPath + "/auth/principals/mallory", `{"roles":["admin"]}`}, {http.MethodGet, kernelPath + "/auth/whoami", ""},
			} {
				var headers []string
				if header != "" {
					headers = []string{"Authorization", header}
				}
				e := decode[api.Error](t, d.send(request[0], request[1], request[2], headers...), http.StatusUnauthorized)
				assert.Equal(t, "UNAUTHENTICATED", e.Code, request[1])
				assert.True(t, e.Definite)
				if secret := strings.TrimPrefix(header, "Bearer "); secret != "" {
					assert.NotContains(t, e.Message+e.Hint, secret, "no token is repeated")
				}
			}
		})
	}
	for _, open := range []string{"/healthz", "/readyz", "/openapi.json", kernelPath + "/auth/status"} {
		assert.Equal(t, http.StatusOK, d.send(http.MethodGet, open, "").status, open)
	}
}

// AU-9: who may not is told what, in the words of grants, and may do what it may.
func TestTooLittleRole(t *testing.T) {
	d := newJudgedDoor(t)
	d.person("ann", "reader")
	decode[api.AgentPage](t, d.as("ann", http.MethodGet, kernelPath+"/agents", ""), http.StatusOK)
	e := decode[api.Error](t, d.as("ann", http.MethodPost, kernelPath+"/agents", `{"name":"a"}`), http.StatusForbidden)
	assert.Equal(t, "FORBIDDEN", e.Code)
	assert.Equal(t, "ann may not do agent.define on a/_", e.Message)
	batch := decode[api.BatchDone](t, d.as("ann", http.MethodPost, kernelPath+"/batch", `{"commands":[{"op":"define","body":{}}]}`), http.StatusOK)
	assert.Equal(t, "FORBIDDEN", batch.Results[0].Error.Code)
	for _, request := range [][2]string{{http.MethodPost, "/v1/node/pause"}, {http.MethodPost, "/v1/cluster/transfer"}, {http.MethodGet, kernelPath + "/backup"}, {http.MethodGet, kernelPath + "/auth/roles"}} {
		assert.Equal(t, http.StatusForbidden, d.as("ann", request[0], request[1], "").status, request[1])
	}
	decode[api.Done](t, d.admin("/principals/ann", `{"roles":["author"]}`), http.StatusOK)
	done := decode[api.Done](t, d.as("ann", http.MethodPost, kernelPath+"/agents", `{"name":"a"}`), http.StatusCreated)
	d.person("eve", "reader")
	e = decode[api.Error](t, d.as("eve", http.MethodPost, kernelPath+"/agents/"+done.AgentID+"/fork", `{"at":999999}`), http.StatusForbidden)
	assert.Equal(t, "eve may not do agent.fork on a/"+done.AgentID, e.Message, "and nothing of how long the log is")
	page := decode[api.LogPage](t, d.as("ann", http.MethodGet, fmt.Sprintf("%s/log?from=%d&limit=1", kernelPath, done.BusSeq), ""), http.StatusOK)
	assert.Contains(t, string(page.Records[0].Body), `"principal":"ann#`+d.tokens["ann"].ID+`"`, "who did it is on record")
	who := decode[api.Whoami](t, d.as("ann", http.MethodGet, kernelPath+"/auth/whoami", ""), http.StatusOK)
	assert.Equal(t, "ann", who.Principal)
	assert.Equal(t, []string{"author"}, who.Roles)
}

// AU-9: who may not is told so before anything is looked up: not whether there is such
// an agent or token, nor what its input must be. A second bootstrap does not come into
// the log.
func TestNothingIsLookedUpForStrangers(t *testing.T) {
	d := newJudgedDoor(t)
	d.person("ann", "author")
	d.person("eve", "worker")
	done := decode[api.Done](t, d.as("ann", http.MethodPost, kernelPath+"/agents", `{"input":{"type":"string"},"program":`+literal+`}`), http.StatusCreated)
	decode[api.Done](t, d.as("ann", http.MethodPost, kernelPath+"/agents/"+done.AgentID+"/triggers/spawn", `{"input":"x"}`), http.StatusOK)
	page := decode[api.TokenPage](t, d.as("ann", http.MethodGet, kernelPath+"/tokens", ""), http.StatusOK)
	held := page.Tokens[0].TokenID
	for _, id := range []string{done.AgentID, agentB} {
		for what, body := range map[string]string{"triggers/spawn": `{"input":7}`, "instructions": `{"input":7}`} {
			e := refuses(t, d.as("eve", http.MethodPost, kernelPath+"/agents/"+id+"/"+what, body), http.StatusForbidden, "FORBIDDEN", "")
			assert.Contains(t, e.Message, "_/"+id)
		}
	}
	for _, id := range []string{held, done.AgentID, agentB} {
		refuses(t, d.as("eve", http.MethodGet, kernelPath+"/tokens/"+id, ""), http.StatusForbidden, "FORBIDDEN", "")
		refuses(t, d.as("eve", http.MethodPost, kernelPath+"/tokens/"+id+"/revoke", ""), http.StatusForbidden, "FORBIDDEN", "")
	}
	assert.Equal(t, held, decode[api.TokenAnswer](t, d.as("ann", http.MethodGet, kernelPath+"/tokens/"+held, ""), http.StatusOK).TokenID)
	refuses(t, d.as("ann", http.MethodGet, kernelPath+"/tokens/"+agentB, ""), http.StatusNotFound, "NOT_FOUND", "token")
	refuses(t, d.as("ann", http.MethodPost, kernelPath+"/tokens/"+agentB+"/revoke", ""), http.StatusNotFound, "NOT_FOUND", "token")
	d.admin("/roles/one", `{"grants":[{"effect":"ALLOW","action":"agent.read","resource":"_/`+done.AgentID+`"}]}`)
	d.person("bob", "one")
	decode[api.TokenAnswer](t, d.as("bob", http.MethodGet, kernelPath+"/tokens/"+held, ""), http.StatusOK)
	refuses(t, d.as("bob", http.MethodGet, kernelPath+"/tokens/"+agentB, ""), http.StatusForbidden, "FORBIDDEN", "")

	before := d.group.Index()
	body := fmt.Sprintf(`{"credential":"anothertoken","hash":%q}`, api.NewBearer().Hash())
	for _, who := range []string{"eve", "admin"} {
		refuses(t, d.as(who, http.MethodPost, kernelPath+"/auth/bootstrap", body), http.StatusConflict, "ALREADY_EXISTS", "")
	}
	refuses(t, d.post("/auth/bootstrap", body), http.StatusConflict, "ALREADY_EXISTS", "")
	assert.Equal(t, before, d.group.Index(), "nothing of it is in the log")
}

// AU-6: a request that is sent again is answered as the first time, to the same
// principal and with the same body; any other is refused, and nothing is done.
func TestReplayedAndTampered(t *testing.T) {
	d := newJudgedDoor(t)
	d.person("ann", "author")
	d.person("bob", "author")
	session := decode[api.Session](t, d.as("ann", http.MethodPost, kernelPath+"/sessions", ""), http.StatusCreated).Session
	send := func(who, body string) reply {
		return d.as(who, http.MethodPost, kernelPath+"/agents", body, numbered(session, 1, 1)...)
	}
	first := decode[api.Done](t, send("ann", `{"name":"a"}`), http.StatusCreated)
	again := decode[api.Done](t, send("ann", `{"name":"a"}`), http.StatusCreated)
	assert.True(t, again.Repeated)
	assert.Equal(t, first.AgentID, again.AgentID)
	assert.Equal(t, "SEQUENCE_REUSED", decode[api.Error](t, send("ann", `{"name":"b"}`), http.StatusConflict).Code, "tampered")
	assert.Equal(t, "SEQUENCE_REUSED", decode[api.Error](t, send("bob", `{"name":"a"}`), http.StatusConflict).Code, "replayed by another")
	decode[api.Done](t, d.admin("/credentials/"+d.tokens["ann"].ID+"/revoke", ``), http.StatusOK)
	assert.Equal(t, "UNAUTHENTICATED", decode[api.Error](t, send("ann", `{"name":"a"}`), http.StatusUnauthorized).Code, "replayed with a revoked token")
}

// AU-9: a watch ends, and says why, when the credential that it came with is revoked.
func TestWatchEndsWithItsCredential(t *testing.T) {
	d := newJudgedDoor(t)
	d.person("ann", "reader")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+kernelPath+"/watch", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+d.tokens["ann"].String())
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	stream := bufio.NewReader(response.Body)
	line, err := stream.ReadString('\n')
	require.NoError(t, err, "it is open: %s", line)
	decode[api.Done](t, d.admin("/credentials/"+d.tokens["ann"].ID+"/revoke", ``), http.StatusOK)
	rest, err := io.ReadAll(stream)
	require.NoError(t, err)
	assert.Contains(t, string(rest), "UNAUTHENTICATED")
	assert.NotContains(t, string(rest), "CREDENTIAL_REVOKED", "it is not told what it may not read any more")
}

// AU-2: before the bootstrap nobody is judged, whatever they show; and what nodes
// propose cannot be asked for here.
func TestBeforeBootstrap(t *testing.T) {
	d := newDoor(t)
	decode[api.Done](t, d.post("/agents", `{}`), http.StatusCreated)
	decode[api.Done](t, d.post("/agents", `{}`, "Authorization", "Bearer "+api.NewBearer().String()), http.StatusCreated)
	status := decode[api.AuthStatus](t, d.get("/auth/status"), http.StatusOK)
	assert.False(t, status.On)
	refuses(t, d.post("/auth/principals/ann", `{}`), http.StatusConflict, "INVALID_STATE", "")
	refuses(t, d.post("/auth/bootstrap", `{"credential":"abcdefgh"}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "hash")
	assert.False(t, event.Pulse.IsCommand())
	assert.True(t, strings.HasPrefix(api.NewBearer().String(), "omni_"))
}

// AU-9: no route is without a line in the table of what routes want, and no line is
// without a route.
func TestEveryRouteHasAccess(t *testing.T) {
	routes, lines := httpapi.New(solo.New(t, 1, solo.Setup{}).Nodes[0], httpapi.Options{}).RoutesWithoutAccess()
	assert.Empty(t, routes, "who may?")
	assert.Empty(t, lines, "there is no such route")
}
