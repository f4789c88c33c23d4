package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/bundle"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// A bundle of a cluster that one node is missing from: what the others tell is in it,
// what that one would have told is in the manifest, and nothing of an agent is anywhere.
func TestDebugBundle(t *testing.T) {
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()}, "--timing", "2")
	profiles := freeAddresses(t, 1)[0]
	p.start(0, "--pprof-addr", profiles)
	p.start(1)
	p.start(2)
	p.alike()
	const private = "what-only-the-agent-knows"
	_, err := p.client.Define(t.Context(), event.Define{Name: private, Env: map[string]string{"KEY": private}})
	require.NoError(t, err)
	p.kill(2)

	made, files := p.bundle("--pprof", "n1="+profiles, "--profile", "1s", "--answer-timeout", "30s", "--dir", p.dirs[2])
	for _, node := range []string{"n1", "n2"} {
		for _, file := range []string{"node.json", "status.json", "journal.json", "healthz.json", "readyz.json", "metrics.txt", "segments.json"} {
			assert.NotEmpty(t, files["nodes/"+node+"/"+file], "%s of %s", file, node)
		}
	}
	assert.Contains(t, files["nodes/n1/goroutines.txt"], "goroutine ")
	assert.NotEmpty(t, files["nodes/n1/cpu.pprof"])
	assert.NotEmpty(t, files["nodes/n1/heap.pprof"])
	var config shownConfig
	require.NoError(t, json.Unmarshal([]byte(files["nodes/n1/config.json"]), &config))
	assert.Equal(t, "n1", config.Flags["node"])
	assert.NotEmpty(t, config.Build.Go)
	assert.Contains(t, files["dirs/1/files.txt"], "node-journal.jsonl")
	assert.Contains(t, files["dirs/1/journal.json"], "init_ok")

	missing := make(map[string]string)
	for _, m := range made.Missing {
		missing[m.What] = m.Why
	}
	assert.Contains(t, missing, "nodes/n3/node.json")
	assert.Contains(t, missing["nodes/n3"], "does not answer")
	assert.Contains(t, missing["logs"], "--logs")
	var manifest bundle.Manifest
	require.NoError(t, json.Unmarshal([]byte(files[bundle.ManifestName]), &manifest))
	assert.Equal(t, made.Missing, manifest.Missing)
	for _, item := range manifest.Items {
		assert.Len(t, files[item.File], item.Bytes, item.File)
	}
	for name, content := range files {
		assert.NotContains(t, content, private, name)
	}
	p.start(2) // the log is judged when it is over
	p.alike()
}

// bundle makes a bundle of the nodes, and unpacks it.
func (p *processes) bundle(args ...string) (made madeBundle, files map[string]string) {
	p.t.Helper()
	args = append([]string{"debug", "bundle", p.t.TempDir(), "-o", "json"}, args...)
	for i := range p.api {
		args = append(args, "--server", p.url(i))
	}
	said, err := exec.Command(p.omni, args...).Output()
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(said, &made))
	file, err := os.Open(made.File)
	require.NoError(p.t, err)
	defer file.Close()
	zip, err := gzip.NewReader(file)
	require.NoError(p.t, err)
	files = make(map[string]string)
	top := strings.TrimSuffix(filepath.Base(made.File), ".tar.gz") + "/"
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return made, files
		}
		require.NoError(p.t, err)
		content, err := io.ReadAll(archive)
		require.NoError(p.t, err)
		name, ok := strings.CutPrefix(h.Name, top)
		require.True(p.t, ok, h.Name)
		files[name] = string(content)
	}
}

// What a node shows of its flags has no secrets.
func TestShownConfig(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.String("token", "sesame", "")
	flags.StringArray("peer", []string{"n1=h:1=http://ada:sesame@h:2"}, "")
	flags.Duration("drain", time.Second, "")
	flags.String("client-secret", "", "")
	text, err := json.Marshal(shown(flags))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "sesame")
	assert.Equal(t, map[string]string{
		"token": notShown, "peer": "[n1=h:1=http://" + notShown + "@h:2]", "drain": "1s", "client-secret": "",
	}, shown(flags).Flags)
}
