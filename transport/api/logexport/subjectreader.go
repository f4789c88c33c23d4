package logexport

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// maxHeld bounds the blocks that a reader keeps for the bodies in them, in
// bytes. All bodies of a kernel together are smaller, unless its configuration
// says otherwise.
const maxHeld = 1 << 30

// SubjectReader reads the export of one agent, or a run's ledger, block by block: the
// log's first, then those that touch the subject. The others it keeps, for Held. What it gives
// is to be trusted as the export's only when Next has answered io.EOF.
type SubjectReader struct {
	in    input
	kind  kind
	hash  hash.Hash
	sum   SubjectSummary
	first bool // the log's first block was there
	chain chainOf
	held  map[uint64]*logging.Block // by pointer
	bytes uint64                    // of held
	ended error
}

// VerifyAgent reads an agent's export to its end and checks everything that can
// be checked without the cluster. The error is a *Broken, or the reader's own.
func VerifyAgent(r io.Reader) (SubjectSummary, error) { return CopyAgent(io.Discard, r) }

// CopyAgent does what VerifyAgent does, and writes every byte that it has read
// to w.
func CopyAgent(w io.Writer, r io.Reader) (SubjectSummary, error) {
	return copySubject(w, r, agentKind())
}

// CopyLedger does the same for a run's ledger (RU-4).
func CopyLedger(w io.Writer, r io.Reader) (SubjectSummary, error) {
	return copySubject(w, r, ledgerKind())
}

func copySubject(w io.Writer, r io.Reader, k kind) (SubjectSummary, error) {
	reader, err := newSubjectReader(r, w, k)
	for err == nil {
		_, _, err = reader.Next()
	}
	if !errors.Is(err, io.EOF) {
		return SubjectSummary{}, err
	}
	return reader.sum, nil
}

// NewAgentReader reads the header of an agent's export. The error is a *Broken, or
// the reader's own.
func NewAgentReader(from io.Reader) (*SubjectReader, error) {
	return newSubjectReader(from, io.Discard, agentKind())
}

// NewLedgerReader reads the header of a run's ledger. The error is a *Broken, or the
// reader's own.
func NewLedgerReader(from io.Reader) (*SubjectReader, error) {
	return newSubjectReader(from, io.Discard, ledgerKind())
}

func newSubjectReader(from io.Reader, to io.Writer, k kind) (*SubjectReader, error) {
	r := &SubjectReader{kind: k, hash: sha256.New(), held: make(map[uint64]*logging.Block)}
	r.in = newInput(k.name, from, io.MultiWriter(r.hash, to))
	if err := r.in.start(k.magic); err != nil {
		return nil, err
	}
	if err := r.in.frame(&r.sum.SubjectHeader); err != nil {
		return nil, err
	}
	if _, ok := parseChain(r.sum.Head); !ok || !r.sum.fits(k) {
		return nil, r.in.broken("the header is malformed", nil)
	}
	r.chain.subject = r.sum.Subject()
	return r, nil
}

// Header says whose history it is.
func (r *SubjectReader) Header() SubjectHeader { return r.sum.SubjectHeader }

// Summary is what was read so far; the whole of it after io.EOF.
func (r *SubjectReader) Summary() SubjectSummary { return r.sum }

// Held gives a block that came before, by the pointer to it, if it is there for
// the bodies in it; else nil.
func (r *SubjectReader) Held(pointer uint64) *logging.Block { return r.held[pointer] }

// Next gives the next block and its position, until io.EOF: the log's first,
// unless it touches the subject, then the subject's. It is valid until the next call.
func (r *SubjectReader) Next() (position uint64, block *logging.Block, err error) {
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
func (r *SubjectReader) entry() (part Part, position uint64, block *logging.Block, err error) {
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
func (r *SubjectReader) judge(part Part, position uint64, b *logging.Block) string {
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
	case PartSubject:
		if !r.chain.follow(position, b) {
			return fmt.Sprintf("the block at position %d of the log does not continue the %s's history", position, r.kind.what)
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
func (r *SubjectReader) hold(position uint64, b *logging.Block) string {
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

func (r *SubjectReader) trailer() error {
	sum := hex.EncodeToString(r.hash.Sum(nil))
	var t subjectTrailer
	if err := r.in.frame(&t); err != nil {
		return err
	}
	switch {
	case t.Blocks != r.sum.Blocks || t.Bodies != r.sum.Bodies || t.SHA256 != sum:
		return r.in.broken("the trailer does not belong to the blocks", nil)
	case r.sum.Blocks == 0 || chainText(r.chain.head) != r.sum.Head || r.chain.pointer != logging.PointerTo(r.sum.Position):
		return r.in.broken("the "+r.kind.what+"'s history goes on behind its last block", nil)
	}
	if err := r.in.end(); err != nil {
		return err
	}
	return io.EOF
}
