package backup

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Reader reads one backup from its beginning to its end.
type Reader struct {
	frames   *frameReader
	header   Header
	snapshot snapshot.Header
	tables   logging.Tables // the log's, as the state has them
	verifier *logging.Verifier
	fresh    bool   // the present frame has not been looked into
	rest     []byte // of the present frame of the log
	sum      Summary
	done     error // io.EOF once all was checked; else the first failure
}

// NewReader reads up to the header. The error is a *Broken, a *NewerError, or the
// stream's own.
func NewReader(from io.Reader) (*Reader, error) { return newReader(from, io.Discard) }

func newReader(from io.Reader, tee io.Writer) (*Reader, error) {
	r := &Reader{frames: newFrameReader(from, tee)}
	if err := r.frames.start(); err != nil {
		return nil, err
	}
	if err := r.frames.next(); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(r.frames.body, &r.header); err != nil {
		return nil, r.frames.broken("the header is malformed", err)
	}
	if r.header.KernelVersion > kernel.Version {
		return nil, &NewerError{What: "kernel version", Version: uint64(r.header.KernelVersion), Known: kernel.Version, Binary: r.header.Binary}
	}
	r.sum.Header = r.header
	return r, nil
}

// Header says whose backup it is.
func (r *Reader) Header() Header { return r.header }

// Snapshot is the header of the state, which State compares with the backup's at its
// end; it is there when the first section is given.
func (r *Reader) Snapshot() snapshot.Header { return r.snapshot }

// Tables are the log's tables as the state has them, once State has returned.
func (r *Reader) Tables() logging.Tables { return r.tables }

// Summary of the whole, once Block has answered io.EOF.
func (r *Reader) Summary() Summary { return r.sum }

// Offset is how many bytes of the backup have been read and checked.
func (r *Reader) Offset() int64 { return r.frames.at }

// State reads the state and gives its sections, which may be kept, to each. It
// returns when the state's digest agrees with them. An error of each is returned
// as it is.
func (r *Reader) State(each func(kernel.Section) error) error {
	if err := r.frames.next(); err != nil {
		return err
	}
	if r.frames.part != PartState {
		return r.frames.broken("the state is missing", nil)
	}
	body := &stateReader{r: r}
	in, err := snapshot.NewReader(body)
	if err != nil {
		return body.explain(err)
	}
	r.snapshot = in.Header()
	for {
		one, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return body.explain(err)
		}
		r.sum.Sections++
		if tables, ok := one.Log(); ok {
			r.tables = tables
		}
		if err := each(one); err != nil {
			return err
		}
	}
	r.sum.StateBytes = body.n
	digest := in.Digest()
	r.sum.StateDigest = hex.EncodeToString(digest[:])
	r.verifier = logging.NewVerifier(logging.Genesis(r.header.KernelID).Point)
	r.fresh = true // reading the state went one frame too far
	return r.agree()
}

// agree compares what the header says with what the state is.
func (r *Reader) agree() error {
	h, b, end := &r.snapshot, &r.header, &r.tables.Point
	if h.ClusterID != b.ClusterID || h.KernelID != b.KernelID || h.Index != b.Index || h.Term != b.Term || h.Clock != b.ClockMillis ||
		hex.EncodeToString(h.Chain[:]) != b.Chain || h.Chain != end.Chain || end.LastIndex != h.Index ||
		end.NextSeq != b.BusSeq+1 || end.Position != b.LogBytes {
		return r.frames.broken("the state is not the one that the header names", nil)
	}
	return nil
}

// Block gives the next block of the log, or the stub that stands for it (StubIn), once
// State has returned; it is valid until the call after. It answers io.EOF when the trailer has been read and everything
// agrees.
func (r *Reader) Block() ([]byte, error) {
	if r.done != nil {
		return nil, r.done
	}
	raw, err := r.block()
	r.done = err
	return raw, err
}

func (r *Reader) block() ([]byte, error) {
	if len(r.rest) == 0 {
		if !r.fresh {
			if err := r.frames.next(); err != nil {
				return nil, err
			}
		}
		r.fresh = false
		if r.frames.part == PartTrailer {
			return nil, r.trailer()
		}
		r.rest = r.frames.body
	}
	length, stub, err := logging.ItemLen(r.rest)
	if err != nil || uint64(length) > uint64(len(r.rest)) {
		return nil, r.brokenBlock("no whole block", err)
	}
	raw := r.rest[:length:length]
	if stub {
		err = r.stub(raw)
	} else {
		err = r.verifier.Feed(raw)
	}
	if err != nil {
		return nil, r.brokenBlock("the block does not continue the log", err)
	}
	r.rest = r.rest[length:]
	r.sum.Blocks++
	return raw, nil
}

var errFullFrom = errors.New("a stub stands where the header says that blocks do")

// stub takes one for the next block.
func (r *Reader) stub(raw []byte) error {
	s, err := logging.DecodeStub(raw)
	switch {
	case err != nil:
		return err
	case r.verifier.Point().NextSeq >= r.header.FullFrom:
		return errFullFrom
	}
	r.sum.Stubs++
	return r.verifier.FeedStub(&s)
}

// StubIn tells whether what Block gave is the stub of a block.
func StubIn(raw []byte) (stub logging.Stub, ok bool) {
	if len(raw) != logging.StubBytes {
		return stub, false
	}
	stub, err := logging.DecodeStub(raw)
	return stub, err == nil
}

// Point is where the log stands after what Block gave last.
func (r *Reader) Point() logging.Point { return r.verifier.Point() }

// brokenBlock names the offset of the block at the beginning of rest.
func (r *Reader) brokenBlock(what string, err error) error {
	inside := len(r.frames.body) - len(r.rest)
	return &Broken{Offset: r.frames.offset + headBytes + int64(inside), Part: PartLog, What: what, Err: err}
}

func (r *Reader) trailer() error {
	t, ok := parseTrailer(r.frames.body)
	if !ok {
		return r.frames.broken("the trailer is malformed", nil)
	}
	if !reaches(r.verifier.Point(), r.tables.Point) {
		return r.frames.broken("the log ends elsewhere than the state says", nil)
	}
	r.sum.Records = r.tables.NextSeq - 1
	want := trailer{
		stateBytes: r.sum.StateBytes, sections: r.sum.Sections,
		blocks: r.sum.Blocks, logBytes: r.header.LogBytes, records: r.sum.Records, stubs: r.sum.Stubs,
		sum: [32]byte(r.frames.sum.Sum(nil)),
	}
	switch {
	case t.sum != want.sum:
		return r.frames.broken("the digest over everything does not match", nil)
	case t != want:
		return r.frames.broken("the trailer counts something else", nil)
	}
	if err := r.frames.end(); err != nil {
		return err
	}
	r.sum.Bytes, r.sum.SHA256 = r.frames.at, hex.EncodeToString(t.sum[:])
	return io.EOF
}

// stateReader is the state's bytes as one stream. It reads one frame too many,
// which is the first that is not of the state.
type stateReader struct {
	r    *Reader
	used int
	n    uint64
	err  error // of the frames, not of what they hold
}

func (s *stateReader) Read(b []byte) (int, error) {
	f := s.r.frames
	for f.part == PartState && s.used == len(f.body) {
		if s.err = f.next(); s.err != nil {
			return 0, s.err
		}
		s.used = 0
	}
	if f.part != PartState {
		return 0, io.EOF
	}
	n := copy(b, f.body[s.used:])
	s.used += n
	s.n += uint64(n)
	return n, nil
}

// explain says where in the backup the snapshot cannot be read.
func (s *stateReader) explain(err error) error {
	if s.err != nil {
		return s.err
	}
	if errors.Is(err, kernel.ErrSnapshotVersion) {
		return fmt.Errorf("backup: %w", err)
	}
	return &Broken{Offset: s.r.frames.offset, Part: PartState, What: "the state cannot be read", Err: err}
}
