package snapshot

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// Write writes a whole snapshot of a published state, in pieces of a megabyte.
// It reads an immutable copy, so it may run beside Apply.
func Write(to io.Writer, clusterID, kernelID string, s *state.State) error {
	w, err := NewWriter(to, HeaderOf(clusterID, kernelID, s))
	if err != nil {
		return err
	}
	kernel.Sections(s, func(one kernel.Section) bool {
		err = w.Section(one)
		return err == nil
	})
	if err != nil {
		return err
	}
	return w.Finish()
}

// Writer writes one snapshot from sections that come in order.
type Writer struct {
	to     *bufio.Writer
	digest *kernel.Digester
}

// NewWriter writes the header.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	w := &Writer{to: bufio.NewWriterSize(to, 1<<20), digest: kernel.NewDigester()}
	_, err := w.to.Write(h.append(nil))
	return w, err
}

// Section writes the next section.
func (w *Writer) Section(s kernel.Section) error {
	w.digest.Add(s)
	return w.write(s.Kind, s.Body)
}

// Finish writes the trailer. A snapshot without it is damaged.
func (w *Writer) Finish() error {
	sum := w.digest.Sum()
	if err := w.write(sectionTrailer, sum[:]); err != nil {
		return err
	}
	return w.to.Flush()
}

func (w *Writer) write(kind byte, body []byte) error {
	if len(body) > maxSection {
		return fmt.Errorf("a section of %d bytes", len(body))
	}
	var head [5]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(body)))
	if _, err := w.to.Write(head[:]); err != nil {
		return err
	}
	_, err := w.to.Write(body)
	return err
}
