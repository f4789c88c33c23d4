package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// Stop asks the process to stop and waits until it has, or the context is over: then
// it may still. One that was paused goes on to do so. An end that is not in order is
// an error.
func (n *Node) Stop(ctx context.Context) error {
	r, err := n.signal(syscall.SIGTERM)
	if err != nil {
		return err
	}
	if n.State() == Paused {
		if err := n.Resume(); err != nil {
			return err
		}
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
		return fmt.Errorf("%s does not stop: %w", n.id, ctx.Err())
	}
	if !r.end.Wanted {
		return fmt.Errorf("%s was asked to stop and %s: %s", n.id, r.end.How(), r.end.Words())
	}
	return nil
}

// Kill ends the process with SIGKILL, paused or not, and waits until it is gone. A
// process that waits for a disk which does not answer stays until it does: that is
// an error after endWithin.
func (n *Node) Kill() error {
	r, err := n.signal(syscall.SIGKILL)
	if err != nil {
		return err
	}
	return n.await(r)
}

func (n *Node) await(r *run) error {
	select {
	case <-r.ended:
		return nil
	case <-time.After(endWithin):
		return fmt.Errorf("%s: process %d was killed and is still there after %v: does its disk answer?", n.id, r.command.Process.Pid, endWithin)
	}
}

// Pause stops the process's threads with SIGSTOP, and waits until they stand still.
// To pause one that is paused does nothing.
func (n *Node) Pause() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == Paused {
		return nil
	}
	if err := n.send(sigStop); err != nil {
		return err
	}
	n.state = Paused
	if err := awaitStopped(n.run.command.Process.Pid); err != nil {
		return fmt.Errorf("pause %s: %w", n.id, err)
	}
	n.note("paused")
	n.tell(history.Life{What: "paused", Wanted: true})
	return nil
}

// Resume lets the process go on that was paused.
func (n *Node) Resume() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state == Up {
		return nil
	}
	if err := n.send(sigCont); err != nil {
		return err
	}
	n.state = Up
	n.note("resumed")
	n.tell(history.Life{What: "resumed", Wanted: true})
	return nil
}

// signal sends a signal that shall end the process.
func (n *Node) signal(s syscall.Signal) (*run, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.state != Down {
		n.run.asked.Store(int32(s))
	}
	return n.run, n.send(s)
}

// send needs the lock.
func (n *Node) send(s syscall.Signal) error {
	if n.state == Down {
		return fmt.Errorf("%s: %w", n.id, ErrDown)
	}
	err := n.run.command.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) { // it ended by itself, and watch is about to say so
		return fmt.Errorf("%s: %w", n.id, ErrDown)
	}
	if err != nil {
		return fmt.Errorf("%s: send signal %v: %w", n.id, s, err)
	}
	return nil
}
