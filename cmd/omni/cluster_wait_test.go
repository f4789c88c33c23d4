package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// A cluster that answered once, and does no more, is not told of as it was.
func TestWaitTellsThatNobodyAnswersAnyMore(t *testing.T) {
	var members atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var answer any = api.Status{ClusterID: "test", KernelID: "default", Nodes: []api.NodeStatus{}}
		switch asksMembers := strings.HasSuffix(r.URL.Path, "/members"); {
		case members.Load() > 0:
			panic(http.ErrAbortHandler)
		case asksMembers:
			members.Add(1)
			answer = api.Members{Members: []api.Member{}}
		}
		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	defer server.Close()
	c, err := client.New([]string{server.URL}, client.Options{Timeout: 4 * time.Second})
	require.NoError(t, err)
	defer c.Close()
	_, missing, err := (&awaiting{}).until(t.Context(), c, 7*time.Second, nil)
	require.NoError(t, err)
	require.Len(t, missing, 2)
	require.Equal(t, "no node leads", missing[0])
	require.Contains(t, missing[1], "nobody answers any more: ")
}
