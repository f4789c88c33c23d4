package lab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// run is one process of a node.
type run struct {
	number  int
	command *exec.Cmd
	reader  *reader // of its stderr
	from    int64   // where its part of the log begins
	asked   atomic.Int32
	end     End           // once ended is closed
	ended   chan struct{} // closed when all is known about its end, and told
}

// Start starts the node's process, with more flags when this time is a special
// one. It does not wait until the node is ready.
func (n *Node) Start(more ...string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("%s: %w", n.id, ErrClosed)
	case n.state != Down:
		return fmt.Errorf("%s: %w", n.id, ErrUp)
	}
	r := &run{number: 1, ended: make(chan struct{})}
	if n.run != nil {
		<-n.run.ended
		r.number = n.run.number + 1
	}
	info, err := n.output.Stat()
	if err != nil {
		return err
	}
	r.from = info.Size()
	r.command = exec.Command(n.lab.plan.Omni, append(n.args(), more...)...)
	r.command.Stdout = n.output
	r.command.SysProcAttr = attributes()
	n.note("start %d: %s", r.number, r.command)
	if err := n.launch(r); err != nil {
		return fmt.Errorf("start %s: %w", n.id, err)
	}
	n.run, n.state = r, Up
	n.note("start %d is process %d", r.number, r.command.Process.Pid)
	n.tell(history.Life{What: "started", Wanted: true, Detail: fmt.Sprintf("start %d, process %d", r.number, r.command.Process.Pid)})
	go n.watch(r)
	return nil
}

// launch starts the process inside of the node's namespace, its stderr a pipe.
func (n *Node) launch(r *run) error {
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer to.Close()
	err = narrow(from, sinkBytes)
	if err == nil {
		r.command.Stderr = to
		err = n.thread.Do(r.command.Start)
	}
	if err != nil {
		return errors.Join(err, from.Close())
	}
	r.reader = n.sink.read(from, n.output)
	return nil
}

func (n *Node) args() []string {
	args := []string{
		"server", "--node", n.id, "--data-dir", n.data,
		"--api-addr", fmt.Sprintf("%s:%d", n.card.address, apiPort), "--raft-addr", n.Raft(),
	}
	for _, peer := range n.lab.nodes {
		args = append(args, "--peer", peer.id+"="+peer.Raft()+"="+peer.advertised())
	}
	if n.lab.plan.Store != "" {
		args = append(args, "--store", n.lab.plan.Store)
	}
	return append(append(args, "--insecure"), n.lab.plan.Flags...)
}

// watch waits for the process's end.
func (n *Node) watch(r *run) {
	err := r.command.Wait()
	r.reader.finish()
	end := End{Node: n.id, Start: r.number, At: time.Now(), Code: r.command.ProcessState.ExitCode()}
	if status, ok := r.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		end.Signal = status.Signal()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		end.Code = -1
	}
	switch syscall.Signal(r.asked.Load()) {
	case syscall.SIGKILL:
		end.Wanted = end.Signal == syscall.SIGKILL
	case syscall.SIGTERM:
		end.Wanted = end.Signal == 0 && end.Code == 0
	}
	end.Last = lastLines(n.output, r.from)
	n.mu.Lock()
	r.end = end
	n.state = Down
	n.note("start %d %s", r.number, end.How())
	n.mu.Unlock()
	n.tell(end.life())
	close(r.ended)
}

// note writes a line of the lab's own into the log.
func (n *Node) note(format string, args ...any) {
	_, _ = fmt.Fprintf(n.output, "=== %s %s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), n.id, fmt.Sprintf(format, args...)) // a full disk has other witnesses
}
