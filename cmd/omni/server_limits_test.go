package main

import (
	"os"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
)

// LI-11: --limit sets what it names, and nothing else; what it cannot set it refuses by name.
func TestLimitsOfANewCluster(t *testing.T) {
	got, want := config.Default(), config.Default()
	require.NoError(t, setLimits(&got, []string{"max_agents=5000", "log_warn_bytes=1000", "log_error_bytes=2000"}))
	want.MaxAgents, want.LogWarnBytes, want.LogErrorBytes = 5000, 1000, 2000
	require.Equal(t, want, got)
	for _, name := range settable() {
		c := config.Default()
		require.NoError(t, setLimits(&c, []string{name + "=31"}), name)
		require.NotEqual(t, config.Default(), c, name)
	}
	for text, says := range map[string]string{
		"max_agents": "must be NAME=N", "max_agents=": "must be NAME=N", "max_agents=-1": "must be NAME=N", "max_agents=5k": "must be NAME=N",
		"max_agents=4294967296": "is too much", "max_value_bytes=5": "is none that can be set: one of global_queue", "=5": "is none that can be set",
	} {
		c := config.Default()
		require.ErrorContains(t, setLimits(&c, []string{text}), says, text)
	}
	c := config.Default()
	require.ErrorContains(t, setLimits(&c, []string{"max_agents=1", "max_agents=2"}), "--limit max_agents: is given twice")
}

// LI-11: a number that the kernel could not keep is refused under the flag's name.
func TestWrongLimits(t *testing.T) {
	for text, says := range map[string]string{
		"max_agents=0": "--limit max_agents: must be from 1 to", "log_warn_bytes=0": "--limit log_warn_bytes: must be from 1 to",
		"log_error_bytes=5": "--limit log_error_bytes: must be from log_warn_bytes to",
	} {
		f := serverFlags{cluster: "c", kernel: "k", segmentBytes: 1 << 20, kernelLimits: []string{text}}
		_, err := f.config(nil, hclog.NewNullLogger(), nil)
		require.ErrorContains(t, err, says)
	}
	f := serverFlags{cluster: "c", kernel: "k", segmentBytes: 0}
	_, err := f.config(nil, hclog.NewNullLogger(), nil)
	require.ErrorContains(t, err, "--segment-bytes: must be from 1 to")
}

// docs/limits.md names every limit that can be set.
func TestDocsNameTheLimits(t *testing.T) {
	content, err := os.ReadFile("../../docs/limits.md")
	require.NoError(t, err)
	for _, name := range settable() {
		require.Contains(t, string(content), "`"+name+"`")
	}
}
