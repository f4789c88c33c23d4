package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Who the members are is told by everybody; what changes them is refused with a code,
// and its field.
func TestMembers(t *testing.T) {
	d := newDoor(t)
	const members = "/v1/cluster/members"
	list := decode[api.Members](t, d.send(http.MethodGet, members, ""), http.StatusOK)
	assert.Equal(t, 1, list.Voters)
	assert.Equal(t, 0, list.Spare)
	assert.Equal(t, "n1", list.Members[0].ID)
	assert.True(t, list.Members[0].Voter)
	refuses(t, d.send(http.MethodGet, members+"?all=true", ""), 422, "INVALID_ARGUMENT", "all")

	done := decode[api.MemberChanged](t, d.send(http.MethodPost, members+"/n1/promote", ""), http.StatusOK)
	assert.Equal(t, api.MemberChanged{Node: "n1", Change: "promote", Voters: 1, BusSeq: done.BusSeq}, done)
	assert.NotZero(t, done.BusSeq, "it is on record")
	done = decode[api.MemberChanged](t, d.send(http.MethodPost, members, `{"id":"n1","raft":"127.0.0.1:1","api":"http://127.0.0.1:2","learner":true}`), http.StatusOK)
	assert.Equal(t, "add", done.Change)
	e := refuses(t, d.send(http.MethodPost, members+"/n7/remove", `{"force":true}`), 404, "UNKNOWN_MEMBER", "node")
	assert.NotEmpty(t, e.Hint)
	assert.True(t, e.Definite)
	refuses(t, d.send(http.MethodPost, members+"/n1/demote", `{"farce":true}`), 422, "INVALID_ARGUMENT", "farce")
	refuses(t, d.send(http.MethodPost, members+"/n1/promote", `{"force":true}`), 422, "INVALID_ARGUMENT", "force")
	d.group.Lead(-1)
	refuses(t, d.send(http.MethodPost, members+"/n1/remove", ""), 503, "NO_LEADER", "")
}
