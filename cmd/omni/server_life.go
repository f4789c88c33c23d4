package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
	"github.com/omnikernel/omnikernel/cluster/raftstore"
)

// How long the end of a node waits for its last words to be on disk. One that must
// not go on hardly waits: the disk may be what it died of.
const (
	keptWithin      = 2 * time.Second
	keptWithinFatal = 250 * time.Millisecond
)

// life takes one process through a node's lifecycle (NO-1).
type life struct {
	state   *nodestate.Registry
	journal *nodejournal.Journal
	logger  hclog.Logger
	drain   time.Duration
	restart chan nodestate.Cause // one place: somebody wants the node to start anew
	again   bool                 // … and it will when it has stopped in order
}

func addPolicyFlags(flags *pflag.FlagSet, p *nodestate.Policy) {
	d := nodestate.DefaultPolicy
	flags.IntVar(&p.StartAttempts, "start-attempts", d.StartAttempts, "starts that may fail in a row before the process gives up")
	flags.DurationVar(&p.StartBackoff, "start-backoff", d.StartBackoff, "wait after the first of them; doubles with each")
	flags.DurationVar(&p.MaxBackoff, "max-backoff", d.MaxBackoff, "the longest wait, of starts and of components")
	flags.DurationVar(&p.RestartBackoff, "restart-backoff", d.RestartBackoff, "wait before a component that fails on is started again; doubles with each")
	flags.IntVar(&p.RestartBudget, "restart-budget", d.RestartBudget, "failures of a component in a row after which it is given up")
	flags.IntVar(&p.DegradedAfter, "degraded-after", d.DegradedAfter, "failures of a component in a row that make the node Degraded; up to then it is started again at once")
	flags.DurationVar(&p.ErrorWindow, "error-window", d.ErrorWindow, "time without a failure after which they are no longer in a row")
}

// beginLife opens the node's journal in the directory that is its own, and says
// what happened before. What is wrong with the configuration is for the first
// transition to refuse.
func beginLife(c *cluster.Config, policy nodestate.Policy, invalid error) (*life, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := datadir.Claim(c.DataDir, c.ClusterID, c.NodeID); err != nil {
		return nil, err
	}
	journal, past, err := nodejournal.Open(c.DataDir)
	if err != nil {
		return nil, err
	}
	l := &life{journal: journal, logger: c.Logger.Named("node"), drain: c.Drain, restart: make(chan nodestate.Cause, 1)}
	o := nodestate.Options{Policy: policy, Before: past.Before, Version: c.Version, Sink: journal}
	if invalid = errors.Join(invalid, policy.Check()); invalid != nil {
		o.Invalid = invalid.Error()
	}
	l.state = nodestate.New(o)
	c.State, c.Journal = l.state, journal
	c.Restart = func(why nodestate.Cause) {
		select {
		case l.restart <- why:
		default: // it is on its way
		}
	}
	l.tellPast(past)
	if refusal := l.state.Transition(nodestate.Start, nodestate.Cause{By: "operator", Text: "omni server"}); refusal != nil {
		return nil, errors.Join(invalid, journal.Close())
	}
	return l, nil
}

func (l *life) tellPast(past nodejournal.Past) {
	for _, d := range past.Damage {
		l.logger.Warn("the node's journal is damaged", "file", d.File, "offset", d.Offset, "what", d.What)
	}
	switch before := past.Before; {
	case before == nil:
	case before.Clean():
		l.logger.Info("the process before ended in order", "at", before.Since)
	default:
		l.logger.Warn("the process before did not end in order", "state", before.State, "since", before.Since, "cause", before.Cause)
	}
}

// start opens the node, again and again while what fails may pass and starts are
// left. It returns nil with the node open, or when it was told to stop meanwhile.
func (l *life) start(ctx context.Context, open func() error, meanwhile func() (stop func())) error {
	for {
		err := open()
		if err == nil {
			l.opened(ctx)
			return nil
		}
		if !mayPass(err) || l.state.State() == nodestate.Crashed {
			l.ask(nodestate.Fatal, nodestate.Cause{By: "node", Text: err.Error()})
			return err
		}
		l.ask(nodestate.InitFail, nodestate.Cause{By: "node", Text: err.Error()})
		s := l.state.Snapshot()
		l.logger.Warn("the start failed", "attempt", s.Attempt, "retry_in", s.RetryIn, "error", err)
		if !l.waits(ctx, s.RetryIn, meanwhile) {
			return nil
		}
		if l.state.Transition(nodestate.Retry, nodestate.Cause{By: "node"}) != nil {
			l.ask(nodestate.Exhausted, nodestate.Cause{By: "node", Text: err.Error()})
			return fmt.Errorf("gave up after %d starts: %w", s.Attempt, err)
		}
	}
}

// waits lets a backoff pass, in which the node tells where it stands; false when it
// was told to stop, or to begin anew, meanwhile.
func (l *life) waits(ctx context.Context, wait time.Duration, meanwhile func() (stop func())) bool {
	stop := meanwhile()
	defer stop()
	why := nodestate.Cause{By: "signal", Text: "the process was told to stop"}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
	case why = <-l.restart:
		l.again = true
	}
	l.ask(nodestate.Shutdown, why)
	return false
}

// opened waits until all is well with a node that is open. One in safe mode is
// Crashed already.
func (l *life) opened(ctx context.Context) {
	for changed := l.state.Changed(); l.state.Try(nodestate.InitOK) != nil; changed = l.state.Changed() {
		if l.state.State() != nodestate.Starting {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
	l.ask(nodestate.InitOK, nodestate.Cause{By: "node"})
	if s := l.state.Snapshot(); s.State == nodestate.Suspended {
		l.logger.Warn("this node was suspended before, and is again", "since", s.Suspension.Since, "reason", s.Suspension.Reason,
			"hint", "omni node resume")
	}
}

// end takes the node to its last state, and waits until that is on record.
func (l *life) end(failed error) error {
	within := keptWithinFatal
	switch {
	case failed == nil || datadir.IsOver(failed):
		within = keptWithin
		told := l.state.Snapshot() // to stop
		l.ask(nodestate.Done, nodestate.Cause{By: told.By, Text: told.Cause})
	case l.state.State() != nodestate.Crashed:
		l.ask(nodestate.Fatal, nodestate.Cause{By: "node", Text: failed.Error()})
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := l.journal.Sync(ctx); err != nil {
		l.logger.Error("how the node ended is not on record", "error", err)
		return failed
	}
	return errors.Join(failed, l.journal.Close())
}

// execAgain puts the same command line in this process's place. The process keeps
// its id, so whoever started it need not know.
func execAgain() error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start anew: %w", err)
	}
	return fmt.Errorf("start anew: %w", syscall.Exec(self, os.Args, os.Environ()))
}

// ask makes a transition that the process must be able to make.
func (l *life) ask(t nodestate.Trigger, c nodestate.Cause) {
	if refusal := l.state.Transition(t, c); refusal != nil {
		l.logger.Error("a transition was refused", "refusal", refusal)
	}
}

// mayPass tells whether time can mend what a start failed of.
func mayPass(err error) bool {
	for _, passing := range []error{
		raftstore.ErrBusy, syscall.EADDRINUSE, syscall.EADDRNOTAVAIL, syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE,
		syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ETIMEDOUT,
	} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}
