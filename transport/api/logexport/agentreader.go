package logexport

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// maxHeld bounds the blocks that a reader keeps for the bodies in them, in
// bytes. All bodies of a kernel together are smaller, unless its configuration
// says otherwise.
const maxHeld = 1 << 30

// AgentReader reads the export of one agent, block by block: the log's first,
// then those that touch the agent. The others it keeps, for Held. What it gives
// is to be trusted as the export's only when Next has answered io.EOF.
type AgentReader struct {
	in    input
	hash  hash.Hash
	sum   AgentSummary
	first bool // the log's first block was there
	chain chainOf
	held  map[uint64]*logging.Block // by pointer
	bytes uint64                    // of held
	ended error
}

// VerifyAgent reads an agent's export to its end and checks everything that can
// be checked without the cluster. The error is a *Broken, or the reader's own.
func VerifyAgent(r io.Reader) (AgentSummary, error) { return CopyAgent(io.Discard, r) }

// CopyAgent does what VerifyAgent does, and writes every byte that it has read
// to w.
func CopyAgent(w io.Writer, r io.Reader) (AgentSummary, error) {
	reader, err := newAgentReader(r, w)
	for err == nil {
		_, _, err = reader.Next()
	}
	if !errors.Is(err, io.EOF) {
		return AgentSummary{}, err
	}
	return reader.sum, nil
}

// NewAgentReader reads the header. The error is a *Broken, or the reader's own.
func NewAgentReader(from io.Reader) (*AgentReader, error) { return newAgentReader(from, io.Discard) }

func newAgentReader(from io.Reader, to io.Writer) (*AgentReader, error) {
	r := &AgentReader{hash: sha256.New(), held: make(map[uint64]*logging.Block)}
	r.in = newInput("agent export", from, io.MultiWriter(r.hash, to))
	if err := r.in.start(agentMagic); err != nil {
		return nil, err
	}
	if err := r.in.frame(&r.sum.AgentHeader); err != nil {
		return nil, err
	}
	if _, ok := parseChain(r.sum.Head); !ok || r.sum.Agent == 0 {
		return nil, r.in.broken("the header is malformed", nil)
	}
	r.chain.agent = r.sum.Agent
	return r, nil
}

// Header says whose history it is.
func (r *AgentReader) Header() AgentHeader { return r.sum.AgentHeader }

// Summary is what was read so far; the whole of it after io.EOF.
func (r *AgentReader) Summary() AgentSummary { return r.sum }

// Held gives a block that came before, by the pointer to it, if it is there for
// the bodies in it; else nil.
func (r *AgentReader) Held(pointer uint64) *logging.Block { return r.held[pointer] }

// Next gives the next block and its position, until io.EOF: the log's first,
// unless it touches the agent, then the agent's. It is valid until the next call.
func (r *AgentReader) Next() (position uint64, block *logging.Block, err error) {
	for r.ended == nil {
		part, position, block, err := r.entry()
		if err != nil {
			r.ended = err
			break
		}
		if part != PartBody {
			return position, block, nil
		}
	}
	return 0, nil, r.ended
}

// entry reads and checks the next one; io.EOF at the end.
func (r *AgentReader) entry() (part Part, position uint64, block *logging.Block, err error) {
	head, err := r.in.take(1)
	if err != nil {
		return 0, 0, nil, err
	}
	if part = Part(head[0]); part == partEnd {
		return 0, 0, nil, r.trailer()
	}
	if head, err = r.in.take(entryBytes - 1); err != nil {
		return 0, 0, nil, err
	}
	position = binary.LittleEndian.Uint64(head)
	raw, err := r.in.block()
	if err != nil {
		return 0, 0, nil, err
	}
	b, err := logging.Decode(raw)
	if err != nil {
		return 0, 0, nil, r.in.broken("a block is damaged", err)
	}
	r.sum.Bytes += uint64(len(raw))
	if what := r.judge(part, position, &b); what != "" {
		return 0, 0, nil, r.in.broken(what, nil)
	}
	return part, position, &b, nil
}

// judge says what is wrong with an entry, and takes it in.
func (r *AgentReader) judge(part Part, position uint64, b *logging.Block) string {
	if r.first != (part != PartFirst) {
		return "it does not begin with the log's first block, once"
	}
	switch part {
	case PartFirst:
		if position != 0 || b.FirstSeq != 1 || b.PrevChain != logging.GenesisChain(r.sum.KernelID) {
			return "its first block is not the first of that kernel's log"
		}
		r.first = true
	case PartBody:
		return r.hold(position, b)
	case PartAgent:
		if !r.chain.follow(position, b) {
			return "a block does not continue the agent's history"
		}
		if r.sum.Blocks == 0 {
			r.sum.FirstSeq = b.FirstSeq
		}
		r.sum.Blocks++
		r.sum.LastSeq, r.sum.LastIndex = b.LastSeq(), b.Index
	default:
		return "an entry is of an unknown kind"
	}
	return ""
}

// hold keeps a block for the bodies in it.
func (r *AgentReader) hold(position uint64, b *logging.Block) string {
	if r.bytes += uint64(len(b.Raw)); r.bytes > maxHeld {
		return "its bodies are more than this program keeps"
	}
	kept, err := logging.Decode(bytes.Clone(b.Raw))
	if err != nil || position > 1<<63 {
		return "a block is damaged"
	}
	r.sum.Bodies++
	r.held[logging.PointerTo(position)] = &kept
	return ""
}

func (r *AgentReader) trailer() error {
	sum := hex.EncodeToString(r.hash.Sum(nil))
	var t agentTrailer
	if err := r.in.frame(&t); err != nil {
		return err
	}
	switch {
	case t.Blocks != r.sum.Blocks || t.Bodies != r.sum.Bodies || t.SHA256 != sum:
		return r.in.broken("the trailer does not belong to the blocks", nil)
	case r.sum.Blocks == 0 || chainText(r.chain.head) != r.sum.Head || r.chain.pointer != logging.PointerTo(r.sum.Position):
		return r.in.broken("the agent's history goes on behind its last block", nil)
	}
	if err := r.in.end(); err != nil {
		return err
	}
	return io.EOF
}
