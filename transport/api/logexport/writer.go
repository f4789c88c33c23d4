package logexport

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Writer writes one export. It checks the blocks while it writes, so that a
// damaged log is noticed where it lies.
type Writer struct {
	to       io.Writer
	verifier *logging.Verifier
	blocks   uint64
}

// NewWriter writes the header. The first block follows the point at: its next
// busSeq, its position and its chain value are used.
func NewWriter(to io.Writer, clusterID, kernelID string, at logging.Point) (*Writer, error) {
	start := append([]byte(magic), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(start[len(magic):], format)
	start, err := appendFrame(start, header{
		ClusterID: clusterID, KernelID: kernelID,
		FromSeq: at.NextSeq, Position: at.Position, Chain: chainText(at.Chain),
	})
	if err != nil {
		return nil, err
	}
	if _, err := to.Write(start); err != nil {
		return nil, err
	}
	return &Writer{to: to, verifier: logging.NewVerifier(logging.Point{
		NextSeq: at.NextSeq, Position: at.Position, Chain: at.Chain,
	})}, nil
}

// Block writes the next block.
func (w *Writer) Block(raw []byte) error {
	if err := w.verifier.Feed(raw); err != nil {
		return fmt.Errorf("log export: %w", err)
	}
	w.blocks++
	_, err := w.to.Write(raw)
	return err
}

// Finish writes the trailer. An export without it is broken.
func (w *Writer) Finish() error {
	end := w.verifier.Point()
	frame, err := appendFrame([]byte{0, 0, 0, 0}, trailer{
		NextSeq: end.NextSeq, Blocks: w.blocks, Chain: chainText(end.Chain),
	})
	if err != nil {
		return err
	}
	_, err = w.to.Write(frame)
	return err
}
