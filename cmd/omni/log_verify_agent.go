package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"errors"
	"io"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
	"github.com/omnikernel/omnikernel/transport/client"
)

// verifyAgent walks one agent's own chain.
func (a *app) verifyAgent(ctx context.Context, id, file string, stdin io.Reader) error {
	var found *show.VerifiedAgent
	var err error
	if file == "" {
		found, err = a.agentOnNodes(ctx, id)
	} else {
		found, err = a.agentInFile(ctx, id, file, stdin)
	}
	if err != nil {
		return unreadable(err)
	}
	if err := a.tell.Data(found, func(p *tell.Page) { show.AgentVerified(p, found, file == "") }); err != nil {
		return err
	}
	if len(found.Differ) > 0 {
		return tell.NotHeld("the agent's chain is another one on %v", found.Differ)
	}
	return nil
}

// agentOnNodes lets every node that answers export the agent as it has it. An
// agent that goes on meanwhile ends elsewhere on the next node: only equal ends
// are compared.
func (a *app) agentOnNodes(ctx context.Context, id string) (*show.VerifiedAgent, error) {
	connection, err := a.connect()
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	status, err := connection.Status(ctx)
	if err != nil {
		return nil, err
	}
	found := &show.VerifiedAgent{}
	for _, node := range status.Nodes {
		if node.Digest == "" {
			continue // it does not answer
		}
		sum, err := connection.ExportAgent(ctx, id, io.Discard, client.Node(node.ID))
		if err != nil {
			return nil, err
		}
		switch {
		case found.Blocks == 0:
			*found = show.OfAgent(sum)
			found.Agree = append(found.Agree, node.ID)
		case sum.LastIndex != found.LastIndex:
		case sum.Head == found.Head && sum.Position == found.Position:
			found.Agree = append(found.Agree, node.ID)
		default:
			found.Differ = append(found.Differ, node.ID)
		}
	}
	return found, nil
}

// agentInFile walks the chain in an agent's export, or in a whole log.
func (a *app) agentInFile(ctx context.Context, id, file string, stdin io.Reader) (*show.VerifiedAgent, error) {
	from, err := a.openLog(ctx, file, "", stdin)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	uuid, _ := flows.ParseID(id)
	buffered := bufio.NewReaderSize(from, 256<<10)
	if start, _ := buffered.Peek(8); string(start) == "OMNIAGE\n" {
		sum, err := logexport.VerifyAgent(buffered)
		if err == nil && sum.AgentID != id {
			err = tell.NotHeld("the export is of agent %s", sum.AgentID)
		}
		found := show.OfAgent(sum)
		return &found, err
	}
	walk := &agentWalk{id: uuid}
	walk.found.AgentID = id
	meter := a.tell.Meter()
	defer meter.Done()
	origin, err := history.Whole(buffered, func(history.Origin) func(*logging.Block) error { return walk.block }, func(bytes uint64) {
		meter.Show("%s: %d blocks of the agent", show.Bytes(bytes), walk.found.Blocks)
	})
	if err == nil && walk.found.Agent == 0 {
		err = replay.ErrNoAgent
	}
	found := &walk.found
	found.Origin, found.ClusterID, found.KernelID = origin.Kind, origin.ClusterID, origin.KernelID
	found.Head = hex.EncodeToString(walk.head[:])
	return found, err
}

// agentWalk follows one agent's blocks through a whole log.
type agentWalk struct {
	id      identity.ID
	found   show.VerifiedAgent
	at      uint64 // position of the next block
	pointer uint64
	head    [logging.HashBytes]byte
}

// errOwnChain is a block that does not go on where the agent's last one ended.
var errOwnChain = errors.New("the block does not continue the agent's own chain")

func (w *agentWalk) block(b *logging.Block) error {
	here := w.at
	w.at += uint64(len(b.Raw))
	if w.found.Agent == 0 && !w.defined(b) {
		return nil
	}
	previous, touched := b.Previous(w.found.Agent)
	if !touched {
		return nil
	}
	if head, _ := b.Head(w.found.Agent); previous != w.pointer || head != w.head {
		return tell.NotHeld("%v: index %d, position %d", errOwnChain, b.Index, here)
	}
	if w.found.Blocks == 0 {
		w.found.FirstSeq = b.FirstSeq
	}
	w.pointer, w.head = logging.PointerTo(here), logging.ChainAfter(w.head, b.Digest())
	w.found.Blocks++
	w.found.Bytes += uint64(len(b.Raw))
	w.found.Position, w.found.LastSeq, w.found.LastIndex = here, b.LastSeq(), b.Index
	return nil
}

// defined looks for the agent's definition.
func (w *agentWalk) defined(b *logging.Block) bool {
	for records := b.Records(); records.Next(); {
		r := &records.Record
		if bus.Kind(r.Kind) != bus.AgentDefined {
			continue
		}
		body, ok := kernel.DecodeRecordBody(bus.AgentDefined, r.Body)
		if defined, is := body.(*identity.Defined); ok && is && defined.ID == w.id {
			w.found.Agent = r.Agent
			return true
		}
	}
	return false
}
