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
		Services map[string]struct {
			Command     string
			Healthcheck struct{ Test []string }
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(deployed(t, "compose/compose.yaml")), &file))
	require.Len(t, file.Services, 3)
	for name, service := range file.Services {
		line := regexp.MustCompile(`\$\{[A-Z_0-9]+:-([^}]*)\}`).ReplaceAllString(service.Command, "$1")
		assert.NoError(t, taken(line), line)
		assert.Contains(t, line, "--node "+name+" ")
		assert.Contains(t, line, "--tls-cert ")
		assert.NotContains(t, line, "--insecure")
		require.Equal(t, "CMD", service.Healthcheck.Test[0])
		assert.NoError(t, taken(strings.Join(service.Healthcheck.Test[2:], " ")))
		requireThreePeers(t, line)
	}
}

// So is what the pods run, and what their probes do.
func TestPodsFlags(t *testing.T) {
	pods := 0
	for _, document := range strings.Split(deployed(t, "kubernetes/omni.yaml"), "\n---\n") {
		var file struct {
			Kind string
			Spec struct {
				Template struct {
					Spec struct{ Containers []container }
				}
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), &file))
		for _, c := range file.Spec.Template.Spec.Containers {
			pods++
			line := strings.ReplaceAll(strings.Join(c.Args, " "), "$(POD_NAME)", "omni-0")
			assert.NoError(t, taken(line), line)
			requireThreePeers(t, line)
			for _, p := range []probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
				require.NotEmpty(t, p.Exec.Command)
				assert.Equal(t, "/omni", p.Exec.Command[0])
				assert.NoError(t, taken(strings.Join(p.Exec.Command[1:], " ")))
			}
		}
	}
	assert.Equal(t, 1, pods)
}

type container struct {
	Args           []string
	StartupProbe   probe `yaml:"startupProbe"`
	LivenessProbe  probe `yaml:"livenessProbe"`
	ReadinessProbe probe `yaml:"readinessProbe"`
}

type probe struct{ Exec struct{ Command []string } }

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
