package fsm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hashicorp/raft"
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
//
// It carries the state, the manifest and the log's tail position, never
// history (mechanics: "The execution log", 5).
const (
	snapshotMagic   = "OMNISNAP"
	snapshotVersion = 0
	sectionTrailer  = 0xff
	maxSection      = 16 << 20
)

// Errors of Restore that a start can meet.
var (
	ErrNotSnapshot     = errors.New("fsm: this is not a snapshot of an omni kernel")
	ErrForeignSnapshot = errors.New("fsm: the snapshot belongs to another cluster or kernel")
	ErrDamaged         = errors.New("fsm: the snapshot is damaged")
)

// Snapshot implements raft.FSM in constant time: the published state is
// immutable, and persisting it runs beside ApplyBatch.
func (f *FSM) Snapshot() (raft.FSMSnapshot, error) {
	return &captured{f: f, state: f.state.Load()}, nil
}

type captured struct {
	f     *FSM
	state *state.State
}

// Persist implements raft.FSMSnapshot. Before the sink closes the execution
// log is durable up to the captured position (LO-2).
func (c *captured) Persist(sink raft.SnapshotSink) error {
	err := c.write(sink)
	if err == nil {
		err = c.f.options.Log.Sync(context.Background(), c.state.Log.Position)
	}
	if err != nil {
		_ = sink.Cancel() // the first error is the one to tell
		return fmt.Errorf("fsm: snapshot at index %d: %w", c.state.Index, err)
	}
	return sink.Close()
}

// Release implements raft.FSMSnapshot; the garbage collector does it.
func (c *captured) Release() {}

func (c *captured) write(to io.Writer) error {
	w := bufio.NewWriterSize(to, 1<<20)
	_, err := w.Write(c.header())
	if err != nil {
		return err
	}
	digest := kernel.NewDigester()
	kernel.Sections(c.state, func(s kernel.Section) bool {
		digest.Add(s)
		err = writeSection(w, s.Kind, s.Body)
		return err == nil
	})
	if err != nil {
		return err
	}
	sum := digest.Sum()
	if err := writeSection(w, sectionTrailer, sum[:]); err != nil {
		return err
	}
	return w.Flush()
}

func (c *captured) header() []byte {
	body := bus.AppendText(nil, c.f.options.ClusterID)
	body = bus.AppendText(body, c.f.options.KernelID)
	body = bus.AppendUint(body, c.state.Index)
	body = bus.AppendUint(body, c.state.Term)
	body = bus.AppendInt(body, c.state.Clock)
	body = append(body, c.state.Log.Chain[:]...)
	head := append([]byte(snapshotMagic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(head[8:], snapshotVersion)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(body)))
	return append(head, body...)
}

func writeSection(w io.Writer, kind byte, body []byte) error {
	if len(body) > maxSection {
		return fmt.Errorf("a section of %d bytes", len(body))
	}
	var head [5]byte
	head[0] = kind
	binary.LittleEndian.PutUint32(head[1:], uint32(len(body)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(body)
	return err
}

// Restore implements raft.FSM: a new kernel is built beside the old one and
// swapped in when every byte of the snapshot has been checked.
func (f *FSM) Restore(from io.ReadCloser) error {
	defer from.Close()
	k, err := f.read(bufio.NewReaderSize(from, 1<<20))
	if err != nil {
		return err
	}
	if f.resumed { // the leader sent it: the log goes on behind a gap
		if err := f.options.Log.Reset(*k.Log()); err != nil {
			err = fmt.Errorf("fsm: execution log after a snapshot from the leader: %w", err)
			f.fatal(err)
			return err
		}
	}
	f.kernel = k
	if err := f.resume(); err != nil {
		return err
	}
	f.publish()
	return nil
}

func (f *FSM) read(r *bufio.Reader) (*kernel.Kernel, error) {
	index, err := f.readHeader(r)
	if err != nil {
		return nil, err
	}
	restorer, digest := kernel.NewRestorer(), kernel.NewDigester()
	for {
		kind, body, err := readSection(r)
		if err != nil {
			return nil, err
		}
		if kind == sectionTrailer {
			if sum := digest.Sum(); !bytes.Equal(body, sum[:]) {
				return nil, fmt.Errorf("%w: its digest does not match", ErrDamaged)
			}
			break
		}
		section := kernel.Section{Kind: kind, Body: body}
		digest.Add(section)
		if err := restorer.Add(section); err != nil {
			return nil, err
		}
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: bytes after its trailer", ErrDamaged)
	}
	k, err := restorer.Done(f.options.Evaluators)
	if err == nil && k.Publish().Index != index {
		return nil, fmt.Errorf("%w: header and content name different indexes", ErrDamaged)
	}
	return k, err
}

func (f *FSM) readHeader(r io.Reader) (index uint64, err error) {
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || string(head[:8]) != snapshotMagic {
		return 0, ErrNotSnapshot
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v > snapshotVersion {
		return 0, fmt.Errorf("%w (snapshot version %d, this binary reads up to %d)", kernel.ErrSnapshotVersion, v, snapshotVersion)
	}
	size := binary.LittleEndian.Uint32(head[12:])
	if size > 4096 {
		return 0, ErrDamaged
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, ErrDamaged
	}
	d := bus.NewDecoder(body)
	cluster, id := d.Text(), d.Text()
	index = d.Uint()
	if cluster != f.options.ClusterID || id != f.options.KernelID {
		return 0, fmt.Errorf("%w: it names cluster %q, kernel %q", ErrForeignSnapshot, cluster, id)
	}
	return index, nil
}

func readSection(r io.Reader) (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, fmt.Errorf("%w: it ends before its trailer", ErrDamaged)
	}
	size := binary.LittleEndian.Uint32(head[1:])
	if size > maxSection {
		return 0, nil, fmt.Errorf("%w: a section of %d bytes", ErrDamaged, size)
	}
	body = make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, fmt.Errorf("%w: it ends before its trailer", ErrDamaged)
	}
	return head[0], body, nil
}
