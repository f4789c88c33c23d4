package httpapi_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

const journalPath = "/v1/node/journal"

// orders are the operators' orders on record.
func (d *judgedDoor) orders() (told []string) {
	d.t.Helper()
	page := decode[api.LogPage](d.t, d.as("admin", http.MethodGet, kernelPath+"/log?limit=1000", ""), http.StatusOK)
	for _, r := range page.Records {
		if r.Kind == "OPERATOR_ORDERED" {
			told = append(told, string(r.Body))
		}
	}
	return told
}

// lastEntry is the newest of the node's journal.
func (d *judgedDoor) lastEntry(trigger string) (last api.JournalEntry) {
	d.t.Helper()
	require.Eventually(d.t, func() bool { // it is written beside
		page := decode[api.NodeJournal](d.t, d.as("admin", http.MethodGet, journalPath, ""), http.StatusOK)
		last = page.Entries[len(page.Entries)-1]
		return last.Trigger == trigger
	}, 30*time.Second, time.Millisecond)
	return last
}

// AU-10: every order is judged, and on record with whoever gave it before it is carried
// out; one that is refused is not carried out, and what is only tried is not on record.
func TestOrdersAreOnRecord(t *testing.T) {
	d := newJudgedDoor(t)
	d.person("ann", "operator")
	d.person("eve", "reader")
	ann := "ann#" + d.tokens["ann"].ID
	for _, path := range []string{"/v1/node/pause", "/v1/node/estop", "/v1/node/resume", "/v1/node/restart", "/v1/cluster/transfer", "/v1/cluster/members/n1/remove", "/v1/cluster/members/n1/promote"} {
		e := refuses(t, d.as("eve", http.MethodPost, path, ""), http.StatusForbidden, "FORBIDDEN", "")
		assert.Contains(t, e.Message, "eve may not do ")
	}
	refuses(t, d.as("eve", http.MethodPost, "/v1/cluster/members", `{"id":"n9","raft":"127.0.0.1:1"}`), http.StatusForbidden, "FORBIDDEN", "")
	refuses(t, d.as("eve", http.MethodGet, kernelPath+"/backup", ""), http.StatusForbidden, "FORBIDDEN", "")
	decode[api.NodeOrdered](t, d.as("ann", http.MethodPost, "/v1/node/pause", `{"dry_run":true}`), http.StatusOK)
	assert.Empty(t, d.orders())

	paused := decode[api.NodeOrdered](t, d.as("ann", http.MethodPost, "/v1/node/pause", `{"reason":"new\ndisks `+strings.Repeat("é", 200)+`"}`), http.StatusOK)
	assert.NotZero(t, paused.BusSeq)
	assert.Empty(t, paused.NotOnRecord)
	require.Len(t, d.orders(), 1)
	assert.Contains(t, d.orders()[0], fmt.Sprintf(`{"action":"node.pause","by":%q,"detail":"new disks é`, ann))
	entry := d.lastEntry("pause")
	assert.Equal(t, []any{"operator", ann, paused.BusSeq}, []any{entry.By, entry.Principal, entry.BusSeq})
	state := decode[api.NodeState](t, d.as("ann", http.MethodGet, "/v1/node", ""), http.StatusOK)
	assert.Equal(t, ann, state.Suspension.Principal)
	decode[api.NodeOrdered](t, d.as("ann", http.MethodPost, "/v1/node/resume", ""), http.StatusOK)

	member := decode[api.MemberChanged](t, d.as("ann", http.MethodPost, "/v1/cluster/members/n1/promote", ""), http.StatusOK)
	decode[api.MemberChanged](t, d.as("ann", http.MethodPost, "/v1/cluster/members", `{"id":"n1","raft":"127.0.0.1:1","learner":true}`), http.StatusOK)
	refuses(t, d.as("ann", http.MethodPost, "/v1/cluster/transfer", `{"to":"n2"}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "to") // but it was ordered
	require.Equal(t, http.StatusOK, d.as("ann", http.MethodGet, kernelPath+"/backup", "").status)
	said := func(action, resource, detail string) string {
		if detail != "" {
			detail = fmt.Sprintf(`"detail":%q,`, detail)
		}
		return fmt.Sprintf(`{"action":%q,"by":%q,%s"resource":%q}`, action, ann, detail, resource)
	}
	assert.Equal(t, []string{
		said("node.resume", "n1", ""), said("cluster.member.promote", "n1", ""), said("cluster.member.add", "n1", "at 127.0.0.1:1, to stay a learner"),
		said("cluster.transfer", "_", "to n2"), said("backup.create", "_", "of n1"),
	}, d.orders()[1:])
	page := decode[api.LogPage](t, d.as("admin", http.MethodGet, fmt.Sprintf("%s/log?from=%d&limit=1", kernelPath, member.BusSeq), ""), http.StatusOK)
	assert.Contains(t, string(page.Records[0].Body), `"event":"OPERATOR_ORDER"`)

	d.admin("/roles/onlyn2", `{"grants":[{"effect":"ALLOW","action":"cluster.member.*","resource":"n2"}]}`)
	d.person("bob", "onlyn2")
	refuses(t, d.as("bob", http.MethodPost, "/v1/cluster/members/n1/remove", ""), http.StatusForbidden, "FORBIDDEN", "")
	refuses(t, d.as("bob", http.MethodPost, "/v1/cluster/members/n2/remove", ""), http.StatusNotFound, "UNKNOWN_MEMBER", "node")
	assert.Len(t, d.orders(), 6, "what would be refused anyway does not come into the log")
	refuses(t, d.as("eve", http.MethodPost, "/v1/cluster/members/n2/remove", ""), http.StatusForbidden, "FORBIDDEN", "")
}

// AU-10: where nothing can be committed, a node takes orders about itself from whoever
// is on its machine, and its journal and its answer say so; the cluster's stay undone.
func TestOrdersOfABrokenCluster(t *testing.T) {
	d := newJudgedDoor(t)
	d.person("ann", "operator")
	d.group.Lead(-1)
	done := decode[api.NodeOrdered](t, d.as("ann", http.MethodPost, "/v1/node/estop", ""), http.StatusOK)
	assert.Equal(t, "Suspended", done.State)
	assert.Zero(t, done.BusSeq)
	assert.Contains(t, done.NotOnRecord, "election")
	entry := d.lastEntry("estop")
	assert.Equal(t, []any{"ann#" + d.tokens["ann"].ID, uint64(0)}, []any{entry.Principal, entry.BusSeq})
	e := refuses(t, d.as("ann", http.MethodPost, "/v1/cluster/members/n1/remove", ""), http.StatusServiceUnavailable, "NO_LEADER", "")
	assert.True(t, e.Definite)
	assert.Contains(t, e.Message, "could not be put on record")
	assert.NotEmpty(t, e.Hint)
	r := d.as("ann", http.MethodGet, kernelPath+"/backup?consistency=stale", "")
	require.Equal(t, http.StatusOK, r.status)
	assert.NotEmpty(t, r.header.Get(api.HeaderNotOnRecord))
	d.group.Lead(0)
	assert.Empty(t, d.orders())
}

// elsewhere is a listener whose callers are on another machine.
type elsewhere struct{ net.Listener }

func (l elsewhere) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return distant{c}, err
}

type distant struct{ net.Conn }

func (distant) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 1234} }

// AU-10: from elsewhere nothing goes unrecorded where callers are judged.
func TestOrdersFromElsewhere(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := httpapi.New(g.Nodes[0], httpapi.Options{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(elsewhere{l}) }()
	t.Cleanup(func() {
		require.NoError(t, server.Shutdown(context.Background()))
		require.NoError(t, <-served)
	})
	d := &judgedDoor{&door{t, g, "http://" + l.Addr().String()}, make(map[string]api.Bearer)}
	g.Lead(-1)
	decode[api.NodeOrdered](t, d.send(http.MethodPost, "/v1/node/estop", ""), http.StatusOK) // nobody is judged
	decode[api.NodeOrdered](t, d.send(http.MethodPost, "/v1/node/resume", ""), http.StatusOK)
	g.Lead(0)
	d.bootstrap()
	d.person("ann", "operator")
	g.Lead(-1)
	e := refuses(t, d.as("ann", http.MethodPost, "/v1/node/estop", ""), http.StatusServiceUnavailable, "NO_LEADER", "")
	assert.Contains(t, e.Hint, "on its own machine")
	refuses(t, d.as("ann", http.MethodGet, kernelPath+"/backup?consistency=stale", ""), http.StatusServiceUnavailable, "NO_LEADER", "")
	assert.Equal(t, "Running", decode[api.NodeState](t, d.as("ann", http.MethodGet, "/v1/node", ""), http.StatusOK).State)
	g.Lead(0)
	decode[api.NodeOrdered](t, d.as("ann", http.MethodPost, "/v1/node/estop", ""), http.StatusOK)
	assert.Len(t, d.orders(), 1)
}
