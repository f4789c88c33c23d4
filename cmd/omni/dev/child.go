package dev

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// child is one node's process, time after time.
type child struct {
	cluster *Cluster
	node    Node
	args    []string
	gone    chan struct{} // closed when supervise has returned

	mu      sync.Mutex // guards process
	process *os.Process
}

func newChild(c *Cluster, node Node) *child {
	args := []string{
		"server", "--node", node.ID, "--cluster", c.file.ClusterID, "--kernel", c.file.KernelID,
		"--data-dir", filepath.Join(c.dir.path, node.ID),
		"--api-addr", authority(node.API), "--raft-addr", node.Raft,
	}
	for _, peer := range c.file.Nodes {
		args = append(args, "--peer", peer.ID+"="+peer.Raft+"="+peer.API)
	}
	return &child{
		cluster: c, node: node, args: append(args, c.options.ServerFlags...),
		gone: make(chan struct{}),
	}
}

// authority is host:port of a base URL that this package made.
func authority(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		panic("dev: an address of our own that does not parse: " + err.Error())
	}
	return u.Host
}

// supervise runs the process again and again until the cluster stops. It keeps
// its thread: the kernel ties a child's fate to the thread that made it.
func (c *child) supervise() {
	defer close(c.gone)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for again := false; ; again = true {
		ended := c.run(again)
		if !again {
			c.cluster.endings <- ending{c.node.ID, ended}
		}
		select {
		case <-c.cluster.stopping:
			return
		default:
		}
		delay := c.cluster.options.RestartDelay
		c.cluster.say(fmt.Sprintf("%s ended: %v; starting it again in %v", c.node.ID, ended, delay))
		select {
		case <-c.cluster.stopping:
			return
		case <-time.After(delay):
		}
	}
}

// run runs the process once and says how it ended.
func (c *child) run(again bool) error {
	output, err := openLog(c.cluster.LogPath(c.node.ID))
	if err != nil {
		return err
	}
	defer output.Close()
	command := exec.Command(c.cluster.options.Binary, c.args...)
	command.Stdout, command.Stderr = output, output
	command.SysProcAttr = attributes()
	if err := c.start(command); err != nil {
		return err
	}
	c.cluster.setPID(c.node.ID, command.Process.Pid)
	if again {
		c.cluster.say(fmt.Sprintf("%s runs again as process %d", c.node.ID, command.Process.Pid))
	}
	err = command.Wait()
	c.mu.Lock()
	c.process = nil
	c.mu.Unlock()
	c.cluster.setPID(c.node.ID, 0)
	if err == nil {
		err = errors.New("it stopped by itself")
	}
	return err
}

// start starts the process, unless the cluster stops: what is started after
// that nobody would end.
func (c *child) start(command *exec.Cmd) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.cluster.stopping:
		return errors.New("the cluster stops")
	default:
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", command.Path, err)
	}
	c.process = command.Process
	return nil
}

func (c *child) signal(signal syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process == nil {
		return fmt.Errorf("%s does not run at the moment", c.node.ID)
	}
	return c.process.Signal(signal)
}

// terminate asks the process to stop. One that was paused must go on to do so.
func (c *child) terminate() {
	if c.signal(syscall.SIGTERM) == nil {
		_ = c.signal(syscall.SIGCONT)
	}
}
