package consensus

import (
	"bytes"
	"time"

	"github.com/hashicorp/raft"
)

// While the library installs a snapshot from the leader, its main loop does
// nothing else: it receives, writes, fsyncs and restores, which may take minutes.
// Heartbeats take the main loop (steady.go), so nobody would answer them. With
// another voter down the leader would lose its lease, and step down from leading
// the very node that is being brought up. So we answer them for that time.
//
// It is safe because the answer is true. It says that this node's term is the
// heartbeat's and that it follows its sender. The term and whom a node follows
// change in the main loop only; that one is inside of an install that the same
// leader asked for in the same term, and that it has not refused: it has set its
// term to it. Whatever else comes, a newer term's heartbeat or a candidate's
// request, waits for the main loop as ever.

// install is a snapshot on its way in.
type install struct {
	term     uint64
	leader   []byte        // its id
	answered chan struct{} // closed with the library's answer
}

// isOver is false while the library is busy with it.
func (in *install) isOver() bool {
	if in == nil {
		return true
	}
	select {
	case <-in.answered:
		return true
	default:
		return false
	}
}

// speaker is what is to be known of the library to speak for it.
type speaker struct {
	*raft.Raft
	header raft.RPCHeader
}

// speakFor begins to answer heartbeats for the library, where it cannot itself.
func (t *steadyTransport) speakFor(r *raft.Raft, id string) {
	t.speaker.Store(&speaker{Raft: r, header: raft.RPCHeader{
		ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(id), Addr: t.EncodePeer(raft.ServerID(id), t.LocalAddr()),
	}})
}

// watchInstall sees the library's answer to an install pass by.
func (t *steadyTransport) watchInstall(rpc raft.RPC) request {
	command, ok := rpc.Command.(*raft.InstallSnapshotRequest)
	if !ok {
		return request{RPC: rpc}
	}
	in := &install{term: command.Term, leader: command.ID, answered: make(chan struct{})}
	caller, answer := rpc.RespChan, make(chan raft.RPCResponse, 1)
	rpc.RespChan = answer
	t.work.Go(func() {
		select {
		case response := <-answer:
			close(in.answered)
			select {
			case caller <- response:
			case <-t.done:
			}
		case <-t.done:
		}
	})
	return request{rpc, in}
}

// beatAgain is how soon heartbeats that could not be answered are looked at
// again: the library may have been about to set its term.
const beatAgain = 10 * time.Millisecond

// answerBeats answers the leader's heartbeats, and gives what goes on waiting.
func (t *steadyTransport) answerBeats(waiting []request, in *install) []request {
	l := t.speaker.Load()
	if l == nil || l.CurrentTerm() != in.term {
		return waiting
	}
	kept := waiting[:0]
	for _, r := range waiting {
		command, ok := r.Command.(*raft.AppendEntriesRequest)
		if !ok || !isHeartbeat(command) || command.Term != in.term || !bytes.Equal(command.ID, in.leader) {
			kept = append(kept, r)
			continue
		}
		r.Respond(&raft.AppendEntriesResponse{
			RPCHeader: l.header, Term: in.term, LastLog: l.LastIndex(), Success: true,
		}, nil)
	}
	clear(waiting[len(kept):])
	return kept
}

// isHeartbeat tells a heartbeat from other requests without entries, as the
// library does.
func isHeartbeat(r *raft.AppendEntriesRequest) bool {
	return r.Term != 0 && r.PrevLogEntry == 0 && r.PrevLogTerm == 0 && len(r.Entries) == 0 && r.LeaderCommitIndex == 0
}
