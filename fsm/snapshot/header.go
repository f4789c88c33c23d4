package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// A snapshot is a header, sections, and a trailer. Integers are little endian.
//
//	┌──────────┬─────────┬───────────────────────────────────────────────┐
//	│ OMNISNAP │ version │ length, header: cluster, kernel, index, term, │
//	│ 8 bytes  │ u32     │ clock, chain (varints and texts)              │
//	├──────────┴─────────┴───────────────────────────────────────────────┤
//	│ kind u8, length u32, body                  … as often as needed    │
//	├─────────────────────────────────────────────────────────────────────┤
//	│ kind 0xff, length 32, SHA-256 over all sections: the state's digest │
//	└─────────────────────────────────────────────────────────────────────┘
const (
	magic          = "OMNISNAP"
	version        = 0
	sectionTrailer = 0xff
	maxHeader      = 4096
	maxSection     = 16 << 20
)

// Errors of a Reader, beside the reader's own.
var (
	ErrNotSnapshot = errors.New("fsm: this is not a snapshot of an omni kernel")
	ErrDamaged     = errors.New("fsm: the snapshot is damaged")
)

// Header says whose state it is, and as of when. Only the two ids are there for
// programs; the state itself has the rest.
type Header struct {
	ClusterID string
	KernelID  string
	Index     uint64 // of the last event in the state
	Term      uint64
	Clock     int64    // kernel milliseconds
	Chain     [32]byte // of the execution log after that event
}

// HeaderOf describes a state.
func HeaderOf(clusterID, kernelID string, s *state.State) Header {
	return Header{ClusterID: clusterID, KernelID: kernelID, Index: s.Index, Term: s.Term, Clock: s.Clock, Chain: s.Log.Chain}
}

func (h *Header) append(dst []byte) []byte {
	body := bus.AppendText(nil, h.ClusterID)
	body = bus.AppendText(body, h.KernelID)
	body = bus.AppendUint(body, h.Index)
	body = bus.AppendUint(body, h.Term)
	body = bus.AppendInt(body, h.Clock)
	body = append(body, h.Chain[:]...)
	dst = append(dst, magic...)
	dst = binary.LittleEndian.AppendUint32(dst, version)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	return append(dst, body...)
}

func readHeader(r io.Reader) (Header, error) {
	var h Header
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return h, ended(err, ErrNotSnapshot)
	}
	if string(head[:8]) != magic {
		return h, ErrNotSnapshot
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v > version {
		return h, fmt.Errorf("%w (snapshot version %d, this binary reads up to %d)", kernel.ErrSnapshotVersion, v, version)
	}
	size := binary.LittleEndian.Uint32(head[12:])
	if size > maxHeader {
		return h, fmt.Errorf("%w: a header of %d bytes", ErrDamaged, size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return h, ended(err, ErrDamaged)
	}
	d := bus.NewDecoder(body)
	h.ClusterID, h.KernelID = d.Text(), d.Text()
	h.Index, h.Term, h.Clock = d.Uint(), d.Uint(), d.Int()
	d.Fixed(h.Chain[:])
	if !d.Done() {
		return h, fmt.Errorf("%w: its header does not decode", ErrDamaged)
	}
	return h, nil
}

// ended tells a stream that is over from one that cannot be read.
func ended(err, is error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends before its trailer", is)
	}
	return err
}
