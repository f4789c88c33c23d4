package logexport

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// AgentWriter writes the export of one agent. It checks the agent's own chain
// while it writes.
type AgentWriter struct {
	to      io.Writer
	sum     hash.Hash
	header  AgentHeader
	chain   chainOf
	held    map[uint64]bool // pointers to blocks that are in it for their bodies
	trailer agentTrailer
}

// NewAgentWriter writes the header.
func NewAgentWriter(to io.Writer, h AgentHeader) (*AgentWriter, error) {
	w := &AgentWriter{to: to, sum: sha256.New(), header: h, chain: chainOf{agent: h.Agent}, held: make(map[uint64]bool)}
	start := append([]byte(agentMagic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(start[len(agentMagic):], format)
	start, err := appendFrame(start, h)
	if err != nil {
		return nil, err
	}
	return w, w.write(start)
}

// First writes the log's first block.
func (w *AgentWriter) First(b *logging.Block) error {
	return w.entry(PartFirst, 0, b)
}

// Has reports whether the block that a pointer points to is in the export
// already, for its bodies.
func (w *AgentWriter) Has(pointer uint64) bool { return w.held[pointer] }

// Body writes a block for the bodies in it.
func (w *AgentWriter) Body(position uint64, b *logging.Block) error {
	w.held[logging.PointerTo(position)] = true
	w.trailer.Bodies++
	return w.entry(PartBody, position, b)
}

// Block writes the next block that touches the agent.
func (w *AgentWriter) Block(position uint64, b *logging.Block) error {
	if !w.chain.follow(position, b) {
		return fmt.Errorf("agent export: the block at position %d does not continue the agent's history", position)
	}
	w.trailer.Blocks++
	return w.entry(PartAgent, position, b)
}

// Finish writes the trailer. An export without it is broken.
func (w *AgentWriter) Finish() error {
	if chainText(w.chain.head) != w.header.Head || w.chain.pointer != logging.PointerTo(w.header.Position) {
		return fmt.Errorf("agent export: the blocks end at position %d, the agent's history at %d", w.chain.pointer-1, w.header.Position)
	}
	if err := w.write([]byte{byte(partEnd)}); err != nil {
		return err
	}
	w.trailer.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	frame, err := appendFrame(nil, w.trailer)
	if err != nil {
		return err
	}
	return w.write(frame)
}

func (w *AgentWriter) entry(part Part, position uint64, b *logging.Block) error {
	if err := w.write(entryHead(part, position)); err != nil {
		return err
	}
	return w.write(b.Raw)
}

func (w *AgentWriter) write(b []byte) error {
	w.sum.Write(b) // never fails
	_, err := w.to.Write(b)
	return err
}
