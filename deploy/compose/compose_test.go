//go:build docker

package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// One cluster through everything that containers do to it: a leader is killed, another
// is cut off from its peers, all of it is destroyed and comes back out of a backup.
func TestDeploy(t *testing.T) {
	p := newProject(t)
	t.Run("image", p.testImage)
	p.up("up", "-d")
	p.alike()
	t.Run("containers", p.testContainers)
	agent := p.runAgent()
	w := write(p.client)
	defer w.stopping()
	w.more(t, 20)

	leader := p.anotherLeads("")
	p.run("docker", "kill", p.container(leader))
	next := p.anotherLeads(leader)
	w.more(t, 20)
	p.run("docker", "start", p.container(leader))
	t.Logf("%s was killed, %s leads", leader, next)
	w.more(t, 20)

	p.partition(w, p.anotherLeads(leader))
	w.stop()
	p.alike()
	w.check(t, p.client)
	require.Greater(t, w.count(), 60)

	file := filepath.Join(t.TempDir(), "all.omniback")
	p.run(omni, "backup", "create", file)
	require.NoError(t, os.Chmod(file, 0o644)) // the containers' user reads it
	before := p.agent(agent)
	p.up("down", "--volumes")
	require.NotContains(t, p.left(), "docker volume", "nothing is left of the data")
	p.restore(file)
	p.up("up", "-d")
	p.alike()
	w.check(t, p.client)
	assert.Equal(t, before, p.agent(agent))
	t.Log(p.run(omni, "log", "verify"))
	t.Log(p.run(omni, "log", "audit"))
	p.runAgent()
}

// testImage: the image is the program, and nothing else that could be run.
func (p *project) testImage(t *testing.T) {
	version := p.run("docker", "run", "--rm", "--read-only", "--network", "none", p.image, "version")
	assert.Equal(t, p.run(omni, "version"), version)
	assert.Equal(t, "65532:65532", p.run("docker", "inspect", "--format", "{{.Config.User}}", p.image))
	for _, program := range []string{"/bin/sh", "sh", "/usr/bin/env"} {
		assert.Error(t, p.command(t.Context(), "docker", "run", "--rm", "--entrypoint", program, p.image).Run(), program)
	}
}

// testContainers: they are held as the file says, their APIs are on loopback, and the
// engine sees that they are healthy.
func (p *project) testContainers(t *testing.T) {
	for _, node := range []string{"n1", "n2", "n3"} {
		id := p.container(node)
		held := p.run("docker", "inspect", "--format",
			"{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{range $port, $to := .NetworkSettings.Ports}}{{range $to}}{{.HostIp}} {{end}}{{end}}", id)
		assert.Equal(t, "true [ALL] 127.0.0.1", strings.TrimSpace(held), node)
		health := func() string { return p.run("docker", "inspect", "--format", "{{.State.Health.Status}}", id) }
		p.await(func(api.Status) string {
			if now := health(); now != "healthy" {
				return node + " is " + now + " to the engine"
			}
			return ""
		})
	}
}

// runAgent runs an agent to its end and gives its id.
func (p *project) runAgent() string {
	p.t.Helper()
	var agent api.Agent
	p.omni(&agent, "agent", "start", "-f", "../../examples/hello/agent.yaml", "--wait", "--input", `{"people": ["Ada", "Grace"]}`)
	assert.Equal(p.t, "TERMINATED", agent.State)
	return agent.AgentID
}

// agent is what the cluster says of an agent, but what depends on when it is asked.
func (p *project) agent(id string) api.Agent {
	p.t.Helper()
	agent, err := p.client.Agent(p.t.Context(), id)
	require.NoError(p.t, err)
	agent.As = api.As{}
	return agent
}

// partition cuts the leader off from its peers, while clients still reach it: the
// others go on without it, and it says that it cannot.
func (p *project) partition(w *writer, leader string) {
	t := p.t
	t.Helper()
	id, network, own := p.container(leader), p.name+"_peers", p.apiOf(leader)
	p.run("docker", "network", "disconnect", network, id)
	next := p.anotherLeads(leader)
	w.more(t, 20)
	require.Eventually(t, func() bool {
		state, err := p.client.NodeState(t.Context(), client.Node(own))
		return err == nil && !state.Healthy
	}, patience, 200*time.Millisecond, "%s knows that it is cut off", leader)
	p.run("docker", "network", "connect", "--alias", leader+".peers", network, id)
	t.Logf("%s was cut off, %s leads", leader, next)
	w.more(t, 20)
}

// restore makes a new cluster of the backup, in volumes that are empty.
func (p *project) restore(file string) {
	p.t.Helper()
	p.begin("omni-2")
	for _, node := range []string{"n1", "n2", "n3"} {
		args := []string{
			"run", "--rm", "--no-deps", "-v", file + ":/backup:ro", node, "backup", "restore", "/backup",
			"--cluster", p.cluster, "--node", node, "--data-dir", "/var/lib/omni",
		}
		for _, peer := range []string{"n1", "n2", "n3"} {
			args = append(args, "--peer", peer+"="+peer+".peers:7800="+p.apiOf(peer))
		}
		p.up(args...)
	}
}
