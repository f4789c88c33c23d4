package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
)

// LO-7: a file of a proof that is damaged, cut, missing, of another cluster, or made
// by a newer program says so; only a proof that holds is taken.
func TestProofFiles(t *testing.T) {
	_, flags, _ := three(t)
	_, others, _ := three(t)
	stdout, stderr, exit := omni(t, append(flags, "log", "prove", "3")...)
	require.Equal(t, api.ExitDone, exit, stderr)
	sound := []byte(stdout)
	file := filepath.Join(t.TempDir(), "proof.json")
	check := func(content []byte, more ...string) (string, api.Exit) {
		require.NoError(t, os.WriteFile(file, content, 0o600))
		_, stderr, exit := omni(t, append([]string{"log", "check", file}, more...)...)
		return stderr, exit
	}
	stderr, exit = check(sound, append(flags, "--live")...)
	require.Equal(t, api.ExitDone, exit, stderr)

	content := func(file []byte) (p logproof.Proof) {
		if json.Unmarshal(file, &p) != nil {
			return logproof.Proof{}
		}
		p.ClusterID, p.KernelID = "", "" // whose it is, is said for people; the chain value tells
		return p
	}
	for at := 0; at < len(sound); at += 7 {
		flipped := bytes.Clone(sound)
		flipped[at] ^= 1
		if assert.ObjectsAreEqual(content(sound), content(flipped)) {
			continue
		}
		stderr, exit = check(flipped)
		assert.Equal(t, api.ExitRefused, exit, "byte %d: %s", at, sound[max(0, at-20):min(at+20, len(sound))])
		assert.NotEmpty(t, stderr)
	}
	for _, cut := range []int{0, 1, len(sound) / 2, len(sound) - 3} {
		stderr, exit = check(sound[:cut])
		assert.Equal(t, api.ExitRefused, exit)
		assert.Contains(t, stderr, file+" is no proof of a record")
	}
	newer := bytes.Replace(sound, []byte(`{"cluster_id"`), []byte(`{"signature":"ab","cluster_id"`), 1)
	stderr, exit = check(newer)
	assert.Equal(t, api.ExitRefused, exit)
	assert.Contains(t, stderr, `unknown field "signature"`)

	stdout, stderr, exit = omni(t, append(others, "log", "prove", "9")...)
	require.Equal(t, api.ExitDone, exit, stderr)
	stderr, exit = check([]byte(stdout), append(flags, "--live")...)
	assert.Equal(t, api.ExitRefused, exit, "another cluster's")
	assert.Contains(t, stderr, "the cluster's log has another block with the record 9")

	require.NoError(t, os.Remove(file))
	_, stderr, exit = omni(t, "log", "check", file)
	assert.Equal(t, api.ExitUsage, exit)
	assert.Contains(t, stderr, "no such file")
}
