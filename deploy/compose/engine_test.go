//go:build docker

package compose

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// patience is how long anything is waited for: machines that build images are slow.
const patience = 2 * time.Minute

const omni = "../../bin/omni"

// project is the containers of one test, under names of its own.
type project struct {
	t       *testing.T
	name    string
	image   string
	cluster string
	tls     string   // directory of the cluster's certificates
	compose []string // the program, and what its arguments begin with
	ports   []string
	client  *client.Client
}

// newProject builds the image. Whatever becomes of the test, nothing of it stays.
func newProject(t *testing.T) *project {
	name := fmt.Sprintf("omni-deploy-test-%d", os.Getpid())
	p := &project{t: t, name: name, image: name + ":test"}
	p.compose = []string{"docker-compose"}
	if exec.Command("docker", "compose", "version").Run() == nil {
		p.compose = []string{"docker", "compose"}
	}
	t.Cleanup(p.remove)
	p.run("docker", "build", "-q", "-t", p.image, "-f", "Dockerfile", "../../bin/image")
	p.ports = freePorts(t, 3)
	p.begin("omni")
	return p
}

// begin gives the containers the id of a cluster, and certificates of that.
func (p *project) begin(cluster string) {
	p.t.Helper()
	p.cluster, p.tls = cluster, filepath.Join(p.t.TempDir(), "tls")
	p.run("./certificates", p.tls)
	if os.Getuid() == 0 {
		require.NoError(p.t, os.Chmod(filepath.Dir(p.tls), 0o755))
	}
	raw, err := os.ReadFile(filepath.Join(p.tls, "ca.pem"))
	require.NoError(p.t, err)
	authorities := x509.NewCertPool()
	require.True(p.t, authorities.AppendCertsFromPEM(raw))
	p.client, err = client.New(p.apis(), client.Options{Timeout: time.Minute, TLS: &tls.Config{RootCAs: authorities, MinVersion: tls.VersionTLS13}})
	require.NoError(p.t, err)
	p.t.Cleanup(p.client.Close)
}

// freePorts are all held at once, so that they differ.
func freePorts(t *testing.T, count int) (ports []string) {
	for range count {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		require.NoError(t, err)
		ports = append(ports, port)
	}
	return ports
}

func (p *project) apis() (apis []string) {
	for _, port := range p.ports {
		apis = append(apis, "https://127.0.0.1:"+port)
	}
	return apis
}

// apiOf is where a node's API is on this machine.
func (p *project) apiOf(node string) string {
	return p.apis()[slices.Index([]string{"n1", "n2", "n3"}, node)]
}

// command is a program in the environment of the project.
func (p *project) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "OMNI_IMAGE="+p.image, "OMNI_CLUSTER="+p.cluster, "OMNI_FLAGS=--timing 2",
		"OMNI_TLS="+p.tls, "OMNI_CACERT="+p.tls+"/ca.pem",
		"OMNI_SERVER="+strings.Join(p.apis(), ","), "COMPOSE_PROJECT_NAME="+p.name)
	for i, port := range p.ports {
		cmd.Env = append(cmd.Env, fmt.Sprintf("OMNI_PORT_%d=%s", i+1, port))
	}
	return cmd
}

// run runs a program to its end and gives what it said on stdout.
func (p *project) run(args ...string) string {
	p.t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := p.command(p.t.Context(), args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(p.t, cmd.Run(), "%s\n%s%s", strings.Join(args, " "), &stdout, &stderr)
	return strings.TrimSpace(stdout.String())
}

func (p *project) up(args ...string) {
	p.t.Helper()
	p.run(append(slices.Clone(p.compose), append([]string{"-f", "compose.yaml"}, args...)...)...)
}

// container is the id of a node's container.
func (p *project) container(node string) string {
	p.t.Helper()
	id := p.run("docker", "ps", "-aq", "--filter", "label=com.docker.compose.project="+p.name, "--filter", "label=com.docker.compose.service="+node)
	require.NotEmpty(p.t, id)
	return id
}

// omni runs the program on this machine, against the cluster.
func (p *project) omni(into any, args ...string) {
	p.t.Helper()
	said := p.run(append([]string{omni, "-o", "json"}, args...)...)
	require.NoError(p.t, json.Unmarshal([]byte(said), into), said)
}

// left is what the engine has of the project.
func (p *project) left() string {
	filter := "label=com.docker.compose.project=" + p.name
	var left []string
	for _, list := range [][]string{
		{"ps", "-aq", "--filter", filter}, {"volume", "ls", "-q", "--filter", filter},
		{"network", "ls", "-q", "--filter", filter}, {"images", "-q", p.image},
	} {
		found, err := p.command(context.Background(), append([]string{"docker"}, list...)...).CombinedOutput()
		if text := strings.TrimSpace(string(found)); text != "" || err != nil {
			left = append(left, fmt.Sprintf("docker %s: %s %v", list[0], text, err))
		}
	}
	return strings.Join(left, "\n")
}

// remove leaves nothing of the project on the engine, and says so.
func (p *project) remove() {
	ctx := context.Background() // the test's is over
	if p.t.Failed() {
		said, _ := p.command(ctx, append(slices.Clone(p.compose), "-f", "compose.yaml", "logs", "--no-color", "--tail", "40")...).CombinedOutput()
		p.t.Logf("what the containers said last:\n%s", said)
	}
	for _, args := range [][]string{
		append(slices.Clone(p.compose), "-f", "compose.yaml", "down", "--volumes", "--remove-orphans", "--timeout", "5"),
		{"docker", "rmi", "--force", p.image},
	} {
		said, err := p.command(ctx, args...).CombinedOutput()
		assert.NoError(p.t, err, "%s", said)
	}
	assert.Empty(p.t, p.left(), "everything is removed")
}

// await asks for the cluster's status until it suits; why says what is not yet as it
// should be.
func (p *project) await(why func(api.Status) string) api.Status {
	p.t.Helper()
	reason := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		status, err := p.client.Status(p.t.Context(), client.Timeout(5*time.Second))
		if err != nil {
			reason = err.Error()
		} else if reason = why(status); reason == "" {
			return status
		}
	}
	require.FailNow(p.t, "not in time", reason)
	return api.Status{}
}

// alike waits until all nodes are well and are the same.
func (p *project) alike() api.Status {
	p.t.Helper()
	return p.await(func(s api.Status) string {
		for _, n := range s.Nodes {
			switch {
			case !n.Healthy:
				return n.ID + " is not healthy: " + n.Reason
			case n.AppliedIndex != s.Nodes[0].AppliedIndex:
				return n.ID + " has not applied the same"
			case n.Digest != s.Nodes[0].Digest:
				return n.ID + " is another than " + s.Nodes[0].ID
			}
		}
		if s.Leader == "" || len(s.Nodes) != 3 {
			return "there is no leader of three"
		}
		return ""
	})
}

// anotherLeads waits until the cluster has a leader that is not this node.
func (p *project) anotherLeads(than string) string {
	p.t.Helper()
	return p.await(func(s api.Status) string {
		if s.Leader == "" || s.Leader == than {
			return "nobody else leads"
		}
		return ""
	}).Leader
}
