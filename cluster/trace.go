package cluster

import (
	"context"
	"encoding/binary"
	"path/filepath"
	"time"

	"github.com/omnikernel/omnikernel/cluster/traces"
)

// Times of traces.
const (
	traceTogether = 200 * time.Millisecond // what ends within it is sent together
	traceLook     = time.Second            // for who leads, and for more
	traceAsk      = 2 * time.Second        // the leader how far it is
	traceRetry    = time.Second            // after a failure; doubles with each …
	traceRetryMax = 30 * time.Second       // … up to this
)

// openTraces makes what exports traces, if somebody wants them.
func (n *Node) openTraces() (err error) {
	if n.config.Traces == nil {
		return nil
	}
	n.traces, err = traces.New(traces.Options{
		ClusterID: n.config.ClusterID, KernelID: n.config.KernelID, NodeID: n.config.NodeID,
		Log: n.log, State: n.fsm.State, Sender: n.config.Traces, File: filepath.Join(n.kernelDir(), "traces.position"), Logger: n.logger.Named("traces"),
	})
	return err
}

// beginTraces begins, where nothing is known of earlier ones, with what this node applies
// from here on.
func (n *Node) beginTraces() {
	if n.traces != nil && n.traces.Next() == 0 {
		n.traces.Learn(n.fsm.State().Log.NextSeq)
	}
}

// trace exports what is committed while this node leads, and else follows how far the
// leader is, to go on from there. What is exported twice around a change of leaders is
// the same spans.
func (n *Node) trace(ctx context.Context) {
	wait, failing := traceRetry, false
	for ctx.Err() == nil {
		switch {
		case !n.group.CaughtUp():
			pause(ctx, traceLook)
		case !n.leading():
			n.learnTraces(ctx)
			pause(ctx, traceAsk)
		default:
			more, err := n.traces.Export(ctx)
			switch {
			case err != nil && ctx.Err() == nil:
				if !failing {
					n.logger.Warn("traces wait: they cannot be sent", "error", err)
				}
				failing = true
				pause(ctx, wait)
				wait = min(2*wait, traceRetryMax)
			case err == nil:
				wait, failing = traceRetry, false
				if !more {
					n.awaitTraces(ctx)
				}
			}
		}
	}
}

// awaitTraces waits until there is more in the log, and a little longer.
func (n *Node) awaitTraces(ctx context.Context) {
	if end, grown := n.log.Grown(); end == n.traces.Next() {
		timer := time.NewTimer(traceLook)
		defer timer.Stop()
		select {
		case <-ctx.Done():
		case <-grown:
		case <-timer.C:
		}
	}
	pause(ctx, traceTogether)
}

// learnTraces asks the leader how far it is. One that has no traces, or does not know the
// question, is as far as this node: there is nothing to go on with.
func (n *Node) learnTraces(ctx context.Context) {
	leader, known := n.Leader()
	if !known {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, statusWait)
	defer cancel()
	answer, err := n.config.Calls.Call(ctx, leader.Raft, peerTraced, nil)
	if err == nil && len(answer) == 8 {
		n.traces.Learn(binary.LittleEndian.Uint64(answer))
	}
}

// traced answers how far this node is with its traces; 0 when it does not know.
func (n *Node) traced() []byte {
	var next uint64
	if n.traces != nil {
		next = n.traces.Next()
	}
	return binary.LittleEndian.AppendUint64(nil, next)
}
