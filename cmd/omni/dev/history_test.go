package dev

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

func TestTellsOfMissingHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status.json")
	t.Setenv("OMNI_DEV_STATUS", file)
	say := func(nodes ...api.NodeStatus) {
		content, err := json.Marshal(api.Status{Nodes: nodes})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file+".tmp", content, 0o600))
		require.NoError(t, os.Rename(file+".tmp", file))
	}
	whole, behind := api.NodeStatus{ID: "n1", HistoryFrom: 1}, api.NodeStatus{ID: "n2", HistoryFrom: 17, Backfill: &api.Backfill{}}
	say(whole, behind)
	var told talk
	c := start(t, Options{DataDir: t.TempDir(), Talk: told.say})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() { c.WatchHistory(ctx); close(done) }()
	eventually(t, "it is told", func() bool {
		return strings.Contains(told.String(), "n2 fetches history from the others: it has it from busSeq 17 on")
	})
	say(whole, api.NodeStatus{ID: "n2"})
	say(whole, api.NodeStatus{ID: "n2", HistoryFrom: 1})
	eventually(t, "the end is told", func() bool { return strings.Contains(told.String(), "n2 has its history again") })
	cancel()
	<-done
	assert.Equal(t, 1, strings.Count(told.String(), "fetches"), "once")
	assert.NotContains(t, told.String(), "n1 ")
}

// AU-9: where callers are judged dev says once that it lacks a token, and takes it from
// the data directory when it is there.
func TestAsksWithAToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "status.json")
	t.Setenv("OMNI_DEV_STATUS", file)
	t.Setenv("OMNI_DEV_TOKEN", "omni_secret")
	content, err := json.Marshal(api.Status{Nodes: []api.NodeStatus{{ID: "n2", HistoryFrom: 17, Backfill: &api.Backfill{}}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, content, 0o600))
	var told talk
	c := start(t, Options{DataDir: t.TempDir(), Talk: told.say})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan struct{})
	go func() { c.WatchHistory(ctx); close(done) }()
	eventually(t, "it is told", func() bool { return strings.Contains(told.String(), "authorization is on") })
	require.NoError(t, os.WriteFile(filepath.Join(c.Dir(), TokenFileName), []byte("omni_secret\n"), 0o600))
	eventually(t, "it asks with the token", func() bool { return strings.Contains(told.String(), "n2 fetches history") })
	cancel()
	<-done
	assert.Equal(t, 1, strings.Count(told.String(), "authorization is on"), "once")
	assert.NotContains(t, told.String(), "omni_secret")
}
