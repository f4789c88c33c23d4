package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// Cluster is a running one. Its methods may be called by any goroutine.
type Cluster struct {
	options  Options
	dir      *directory
	children []*child
	endings  chan ending   // the first end of each child's process
	stopping chan struct{} // closed when Stop begins
	once     sync.Once     // Stop
	stopped  error         // what Stop came to

	mu   sync.Mutex // guards file and its writing
	file File

	talk sync.Mutex // one sentence at a time
}

// Start starts a cluster and waits until every node is ready. When it fails it
// leaves nothing running. The error is a *Problem where something can be done
// about it.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	dir, err := openDirectory(options.DataDir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, dir: dir, stopping: make(chan struct{})}
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, dir.close())
	}
	c.endings = make(chan ending, len(c.file.Nodes))
	for _, node := range c.file.Nodes {
		c.children = append(c.children, newChild(c, node))
	}
	for _, child := range c.children {
		go child.supervise()
	}
	ready, cancel := context.WithTimeout(ctx, options.StartTimeout)
	defer cancel()
	if err := c.awaitReady(ready); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err() // nobody wants it any more
		}
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// prepare decides the cluster's layout and writes it down.
func (c *Cluster) prepare() error {
	known, err := c.known()
	if err != nil {
		return err
	}
	if c.options.Nodes == 0 {
		c.options.Nodes = defaultNodes
		if len(known.Nodes) > 0 {
			c.options.Nodes = len(known.Nodes)
		}
	}
	switch {
	case len(known.Nodes) > 0 && len(known.Nodes) != c.options.Nodes:
		return &Problem{Rule: fmt.Sprintf("%s holds a cluster of %d nodes, not %d", c.dir.path, len(known.Nodes), c.options.Nodes),
			Hint: "leave --nodes out, or name another directory"}
	case known.KernelID != "" && known.KernelID != c.options.KernelID:
		return &Problem{Rule: fmt.Sprintf("%s holds kernel %q, not %q", c.dir.path, known.KernelID, c.options.KernelID),
			Hint: "name another directory"}
	}
	if c.file, err = plan(c.options, known); err != nil {
		return err
	}
	if c.file.ClusterID == "" {
		c.file.ClusterID = uuid.NewString()
	}
	return c.file.write(c.dir.path)
}

// known is what the directory's file says; empty in a new directory.
func (c *Cluster) known() (*File, error) {
	if _, err := os.Stat(filepath.Join(c.dir.path, FileName)); errors.Is(err, os.ErrNotExist) {
		return &File{}, nil
	}
	f, err := ReadFile(c.dir.path)
	return &f, err
}

// Dir is the data directory.
func (c *Cluster) Dir() string { return c.dir.path }

// File is what dev.json says now.
func (c *Cluster) File() File {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.file
	f.Nodes = append([]Node(nil), f.Nodes...)
	return f
}

// Signal sends a signal to the process of a node. It fails when the node does
// not run at the moment.
func (c *Cluster) Signal(id string, signal syscall.Signal) error {
	for _, child := range c.children {
		if child.node.ID == id {
			return child.signal(signal)
		}
	}
	return fmt.Errorf("there is no node %s", id)
}

// LogPath is the file that a node's process writes its output to.
func (c *Cluster) LogPath(id string) string { return filepath.Join(c.dir.path, id+".log") }

// setPID notes that a node's process began (pid) or ended (0), in the file too.
func (c *Cluster) setPID(id string, pid int) {
	c.mu.Lock()
	for i := range c.file.Nodes {
		if c.file.Nodes[i].ID == id {
			c.file.Nodes[i].PID = pid
		}
	}
	err := c.file.write(c.dir.path)
	c.mu.Unlock()
	if err != nil {
		c.say(err.Error())
	}
}

func (c *Cluster) say(sentence string) {
	c.talk.Lock()
	defer c.talk.Unlock()
	c.options.Talk(sentence)
}

// Stop asks every child to stop, kills those that have not after StopTimeout,
// gives the directory back, and removes it if it was a temporary one. Calling
// it again does nothing.
func (c *Cluster) Stop() error {
	c.once.Do(func() {
		close(c.stopping)
		for _, child := range c.children {
			child.terminate()
		}
		deadline := time.After(c.options.StopTimeout)
		for _, child := range c.children {
			select {
			case <-child.gone:
			case <-deadline:
				c.killAll()
				<-child.gone
			}
		}
		c.stopped = c.dir.close()
	})
	return c.stopped
}

func (c *Cluster) killAll() {
	for _, child := range c.children {
		if child.signal(syscall.SIGKILL) == nil {
			c.say(child.node.ID + " did not stop in time and was killed")
		}
	}
}
