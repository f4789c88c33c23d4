package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// three serves three nodes with a log of several segments, and gives the flags
// that lead to them and the id of an agent.
func three(t *testing.T) (servers []string, flags []string, id string) {
	t.Helper()
	g := solo.New(t, 3, solo.Setup{Config: func(c *config.Config) { c.SegmentBytes = 4096 }})
	servers = g.Serve(t, httpapi.Options{})
	for _, server := range servers {
		flags = append(flags, "--server", server)
	}
	c, err := client.New(servers, client.Options{})
	require.NoError(t, err)
	defer c.Close()
	for range 30 {
		done, err := c.Start(t.Context(), event.Start{Define: event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}})
		require.NoError(t, err)
		id = done.AgentID
	}
	g.Nodes[0].Propose(t.Context(), event.Event{Kind: event.Checkpoint, Principal: "node:n1", Body: event.Encode(&event.Compare{Index: 1})})
	return servers, flags, id
}

// LO-16: the chain of the log that was read is compared with every node's
// manifest of sealed segments, and one agent's own chain with every node's.
func TestTheLogIsComparedWithEveryNode(t *testing.T) {
	_, flags, id := three(t)
	stdout, stderr, exit := omni(t, append(flags, "log", "verify")...)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Contains(t, stdout, "the chain holds from the beginning: ")
	assert.Contains(t, stdout, "1 tree heads on record are those of the blocks before them\n")
	assert.Regexp(t, `(?m)^\d+ sealed segments, as in the manifests of n1, n2, n3$`, stdout)
	stdout, _, _ = omni(t, append(flags, "log", "verify", "-o", "json")...)
	var found show.VerifiedLog
	require.NoError(t, json.Unmarshal([]byte(stdout), &found))
	assert.Greater(t, found.Segments, 2)

	stdout, stderr, exit = omni(t, append(flags, "log", "verify", "--agent", id)...)
	require.Equal(t, api.ExitDone, exit, stderr)
	assert.Regexp(t, `^the agent.s chain holds: 1 blocks from busSeq \d+ to \d+, index 31, `, stdout)
	assert.Contains(t, stdout, "the same on n1, n2, n3\n")
	_, stderr, exit = omni(t, append(flags, "log", "verify", "--agent", "018f4e5c-0000-7000-8000-00000000dead")...)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "NOT_FOUND")
	_, stderr, exit = omni(t, "log", "verify", "--agent", "me")
	assert.Equal(t, api.ExitUsage, exit)
	assert.Contains(t, stderr, `--agent is "me", must be an agent's id`)
}

// LO-16: a node whose manifest says otherwise is named.
func TestAManifestThatDiffersIsNamed(t *testing.T) {
	servers, _, _ := three(t)
	c, err := client.New(servers, client.Options{})
	require.NoError(t, err)
	defer c.Close()
	var file bytes.Buffer
	_, err = c.Export(t.Context(), 0, &file)
	require.NoError(t, err)
	a := &app{tell: tell.New(&bytes.Buffer{}, &bytes.Buffer{})}
	for _, spoil := range []func(s *api.LogSegment){
		func(s *api.LogSegment) { s.ChainIn = s.ChainOut },
		func(s *api.LogSegment) { s.ChainOut = s.ChainIn },
		func(s *api.LogSegment) { s.Bytes-- },
		func(s *api.LogSegment) { s.Start++ },
	} {
		m, err := manifestsOf(t.Context(), c)
		require.NoError(t, err)
		spoil(&m.of["n2"][1])
		found, err := a.verifyLog(bytes.NewReader(file.Bytes()), m)
		require.NoError(t, err)
		assert.Equal(t, []string{"n1", "n3"}, found.SegmentsAgree)
		assert.Equal(t, []string{"n2"}, found.SegmentsDiffer)
	}
}

// LO-16: an agent's own chain is walked in a whole log too, and a tree head that
// is not the log's is noticed though the chain holds.
func TestVerifyLooksIntoAFile(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := s.Start(event.Define{Mode: "service", Program: kerneltest.JSON(t, `{"kind":"RECEIVE","payload":{}}`), Grants: kerneltest.AllowAll()}, nil)
	s.Send(id, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"LITERAL","payload":{"value":1}}`)}, nil)
	s.Node(event.Checkpoint, event.Compare{Index: 1})
	agent, log := filepath.Join(t.TempDir(), "agent.omni"), filepath.Join(t.TempDir(), "log.bin")
	writeExports(t, s, agent, log)
	for _, file := range []string{agent, log} {
		stdout, stderr, exit := omni(t, "log", "verify", "--agent", id, file)
		require.Equal(t, api.ExitDone, exit, stderr)
		assert.Regexp(t, `^the agent.s chain holds: 2 blocks from busSeq \d+ to \d+, index 3, `, stdout)
	}
	stdout, _, exit := omni(t, "log", "verify", log)
	require.Equal(t, api.ExitDone, exit)
	assert.Contains(t, stdout, "1 tree heads on record are those of the blocks before them\n")
	_, stderr, exit := omni(t, "log", "verify", "--agent", "018f4e5c-0000-7000-8000-00000000dead", log)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "the log has no agent of this id")
	_, stderr, exit = omni(t, "log", "verify", "--agent", "018f4e5c-0000-7000-8000-00000000dead", agent)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "the export is of agent "+id)

	rewrite(t, s, nil, func(index uint64, head *[logging.HashBytes]byte) {
		if index == 3 {
			head[0] ^= 1
		}
	})
	writeLog(t, s, log)
	_, stderr, exit = omni(t, "log", "verify", "--agent", id, log)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, "the block does not continue the agent's own chain: index 3, position ")
	_, _, exit = omni(t, "log", "verify", log)
	assert.Equal(t, api.ExitRefused, exit, "the tree head is that of other blocks")
	require.NoError(t, os.Remove(log))
}
