package cluster

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/cluster/consensus"
)

// HistoryCaller asks other nodes for what is large, on streams of its own;
// raftstream.Peers is one. The answer lies in room when it fits there.
type HistoryCaller interface {
	CallInto(ctx context.Context, address string, kind byte, body, room []byte) ([]byte, error)
}

// Kinds of questions on streams for history.
const (
	historyBytes byte = 1 // position[8] most[4], little endian → next position[8], and the log's bytes from there on
)

// The lengths of a question for bytes, and of what its answer begins with: the
// position that comes next is not always as far away as there are bytes, since where
// the log was archived stubs stand for longer blocks.
const (
	historyQuestion = 12
	historyAnswer   = 8
)

// maxHistoryChunk bounds the log's bytes in an answer.
const maxHistoryChunk = 1<<20 - historyAnswer

func askForBytes(position uint64, most int) []byte {
	body := binary.LittleEndian.AppendUint64(make([]byte, 0, historyQuestion), position)
	return binary.LittleEndian.AppendUint32(body, uint32(most))
}

// HandleHistory gives another node a part of the execution log. What it gives is
// not verified here: whoever fetches it does that. cmd/omni gives it to the
// streams for history.
func (n *Node) HandleHistory(_ context.Context, _ string, kind byte, body, room []byte) (answer []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			n.supervision().Caught("history", cause)
			err = errPanicked
		}
	}()
	if kind != historyBytes || len(body) != historyQuestion {
		return nil, errUnknownQuestion
	}
	position, most := binary.LittleEndian.Uint64(body), binary.LittleEndian.Uint32(body[8:])
	most = min(most, maxHistoryChunk)
	if uint32(cap(room)) < historyAnswer+most {
		room = make([]byte, historyAnswer+most)
	}
	got, next, err := n.log.Serve(position, room[historyAnswer:historyAnswer+most])
	if err != nil {
		return nil, err
	}
	binary.LittleEndian.PutUint64(room[:historyAnswer], next)
	return room[:historyAnswer+got], nil
}

// HandleHistory refuses: what this node has was not looked at since its start.
func (h *Held) HandleHistory(context.Context, string, byte, []byte, []byte) ([]byte, error) {
	return nil, &h.cause
}

// Backfill is history that a node does not have yet.
type Backfill struct {
	MissingBytes uint64 `json:"missing_bytes" cbor:"1,keyasint"`           // at most
	FetchedBytes uint64 `json:"fetched_bytes" cbor:"2,keyasint"`           // since the node started
	From         string `json:"from,omitempty" cbor:"3,keyasint"`          // node that gives it; empty when none does
	Reason       string `json:"reason,omitempty" cbor:"4,keyasint"`        // why none does
	DamagedFiles int    `json:"damaged_files,omitempty" cbor:"5,keyasint"` // segments here to be fetched again
}

// history is how far back the log can be read here, and what is still fetched:
// nothing when history is complete.
func (n *Node) history() (from uint64, missing *Backfill) {
	status := n.log.Status()
	if !status.Resumed {
		return 0, nil
	}
	piece, some := n.log.Missing()
	if !some {
		return status.FirstSeq, nil
	}
	missing = n.backfill.progress(piece, status.FirstPosition)
	missing.DamagedFiles = status.Damaged
	return status.FirstSeq, missing
}

// errNoHistory: a node that has just begun and does not know its log yet.
var errNoHistory = errors.New("it does not know yet what history it has: wait until it has caught up")

// mayVote is asked before a learner becomes a voter: its history must be
// complete, since a majority of voters is what history may be left to (LO-2).
func (n *Node) mayVote(ctx context.Context, learner consensus.Member) error {
	answer, err := n.config.Calls.Call(ctx, learner.Address, peerStatus, nil)
	if err != nil {
		return &consensus.Refusal{Code: consensus.Unreachable, Detail: learner.ID + " does not answer"}
	}
	var status NodeStatus
	if err := json.Unmarshal(answer, &status); err != nil {
		return fmt.Errorf("its status does not parse: %w", err)
	}
	switch {
	case status.HistoryFrom == 0:
		return errNoHistory
	case status.Backfill != nil:
		return fmt.Errorf("it has history from busSeq %d on only, and %d bytes are still to be fetched: wait until `omni cluster status` names no missing history for it, and promote it then",
			status.HistoryFrom, status.Backfill.MissingBytes)
	}
	return nil
}
