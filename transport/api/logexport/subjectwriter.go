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

// SubjectWriter writes the export of one agent, or a run's ledger. It checks the
// subject's own chain while it writes.
type SubjectWriter struct {
	to      io.Writer
	sum     hash.Hash
	header  SubjectHeader
	kind    kind
	chain   chainOf
	held    map[uint64]bool // pointers to blocks that are in it for their bodies
	trailer subjectTrailer
}

// NewSubjectWriter writes the header.
func NewSubjectWriter(to io.Writer, h SubjectHeader) (*SubjectWriter, error) {
	w := &SubjectWriter{to: to, sum: sha256.New(), header: h, kind: h.kind(), chain: chainOf{subject: h.Subject()}, held: make(map[uint64]bool)}
	start := binary.LittleEndian.AppendUint32([]byte(w.kind.magic), format)
	start, err := appendFrame(start, h)
	if err != nil {
		return nil, err
	}
	return w, w.write(start)
}

// First writes the log's first block.
func (w *SubjectWriter) First(b *logging.Block) error {
	return w.entry(PartFirst, 0, b)
}

// Has reports whether the block that a pointer points to is in the export
// already, for its bodies.
func (w *SubjectWriter) Has(pointer uint64) bool { return w.held[pointer] }

// Body writes a block for the bodies in it.
func (w *SubjectWriter) Body(position uint64, b *logging.Block) error {
	w.held[logging.PointerTo(position)] = true
	w.trailer.Bodies++
	return w.entry(PartBody, position, b)
}

// Block writes the next block that touches the subject.
func (w *SubjectWriter) Block(position uint64, b *logging.Block) error {
	if !w.chain.follow(position, b) {
		return fmt.Errorf("%s: the block at position %d does not continue the %s's history", w.kind.name, position, w.kind.what)
	}
	w.trailer.Blocks++
	return w.entry(PartSubject, position, b)
}

// Finish writes the trailer. An export without it is broken.
func (w *SubjectWriter) Finish() error {
	if chainText(w.chain.head) != w.header.Head || w.chain.pointer != logging.PointerTo(w.header.Position) {
		return fmt.Errorf("%s: the blocks end at position %d, the %s's history at %d", w.kind.name, w.chain.pointer-1, w.kind.what, w.header.Position)
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

func (w *SubjectWriter) entry(part Part, position uint64, b *logging.Block) error {
	if err := w.write(entryHead(part, position)); err != nil {
		return err
	}
	return w.write(b.Raw)
}

func (w *SubjectWriter) write(b []byte) error {
	w.sum.Write(b) // never fails
	_, err := w.to.Write(b)
	return err
}
