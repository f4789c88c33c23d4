package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

func deployed(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../deploy/" + name)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\\\n", "")
}

// What the unit runs, with the flags of the file that goes with it, is what omni takes.
func TestUnitsFlags(t *testing.T) {
	start := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/omni (.*)$`).FindStringSubmatch(deployed(t, "systemd/omni.service"))
	require.Len(t, start, 2)
	flags := regexp.MustCompile(`(?m)^OMNI_SERVER_FLAGS="(.*)"$`).FindStringSubmatch(deployed(t, "systemd/omni.env"))
	require.Len(t, flags, 2)
	require.Contains(t, start[1], "$OMNI_SERVER_FLAGS")
	line := strings.ReplaceAll(start[1], "$OMNI_SERVER_FLAGS", flags[1])
	assert.NoError(t, taken(line), line)
	assert.Error(t, taken(line+" --no-such-flag"))

	requireThreePeers(t, line)
}

// So is what the containers run.
func TestContainersFlags(t *testing.T) {
	var file struct {
		Services map[string]struct{ Command string }
	}
	require.NoError(t, yaml.Unmarshal([]byte(deployed(t, "compose/compose.yaml")), &file))
	require.Len(t, file.Services, 3)
	for name, service := range file.Services {
		line := regexp.MustCompile(`\$\{[A-Z_0-9]+:-([^}]*)\}`).ReplaceAllString(service.Command, "$1")
		assert.NoError(t, taken(line), line)
		assert.Contains(t, line, "--node "+name+" ")
		requireThreePeers(t, line)
	}
}

func requireThreePeers(t *testing.T, line string) {
	t.Helper()
	c, rest, err := newRoot(&app{}).Find(words(line))
	require.NoError(t, err)
	require.NoError(t, c.ParseFlags(rest))
	peers, err := c.Flags().GetStringArray("peer")
	require.NoError(t, err)
	list, err := peerList(peers)
	require.NoError(t, err)
	assert.Len(t, list, 3)
}
