package segment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// phase is where a store is in its life.
type phase uint8

const (
	opened phase = iota // by Open; knows no tables yet
	ready               // by Resume or Reset
	closed              // by Close
)

// Store is the execution log of one kernel on one node's disk. See the package
// comment for who may call what.
type Store struct {
	dir     directory
	options Options
	log     hclog.Logger
	open    func(path string) (handle, error)
	indexes indexes

	// repair guards what is on its way here, and lets one repair of older files
	// go on at a time. It is taken before files.
	repair  sync.Mutex
	partial *partial

	// files guards the tail file, the compared rest and what the directory
	// holds. Appending to memory never takes it. It is taken before mu.
	files sync.Mutex
	tail  *tailFile
	rest  *rest // what the files hold beyond the log's end; nil when nothing

	archive      directory
	archiveKick  chan struct{} // wakes the archiver; one place
	archiverDone chan struct{} // closed when the archiver has ended

	kick    chan struct{} // wakes the flusher; one place
	closing chan struct{}
	done    chan struct{} // closed when the flusher has ended
	failed  chan struct{} // closed when err is set

	// mu guards what follows. It is held for copying a few words or one block,
	// never during I/O.
	mu        sync.Mutex
	moved     sync.Cond // on mu: written, synced, phase or err changed
	phase     phase
	err       error          // the first failure to write; final
	end       logging.Tables // after the last Append
	published bound          // where readers stop
	floor     logging.Point  // where the unbroken history that is here begins
	bad       []uint64       // starts of the sealed segments found damaged, ascending
	epoch     uint64         // counts the times the files were exchanged under readers
	written   uint64         // position up to which the files hold the log
	synced    uint64         // position up to which it is durable
	wanted    uint64         // position up to which somebody waits for synced
	comparing bool           // rest is not nil
	memory    chunks
	live      []*live // the tail last
	unindexed []logging.Segment
	grown     chan struct{} // closed at the next Publish; nil when nobody waits
	kept, cut uint64        // for Status
	archiving archiving
	archived  map[uint64]uint64 // start of each segment the archiver is done with → as of which index
}

// bound is a place between two blocks.
type bound struct{ position, seq uint64 }

// Open opens the execution log in dir, which is made when it does not exist.
// Files of another cluster, kernel or version are refused with a *ForeignError
// or *VersionError before anything is changed.
func Open(dir string, options Options) (*Store, error) {
	return open(dir, options, openFile)
}

func open(dir string, options Options, openTail func(string) (handle, error)) (*Store, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, fmt.Errorf("open execution log: %w", err)
	}
	options = options.withDefaults()
	s := &Store{
		dir: directory(dir), options: options, log: options.Logger, open: openTail,
		archive:     directory(cmp.Or(options.ArchiveDir, filepath.Join(dir, "archive"))),
		archiveKick: make(chan struct{}, 1), archiverDone: make(chan struct{}),
		kick: make(chan struct{}, 1), closing: make(chan struct{}),
		done: make(chan struct{}), failed: make(chan struct{}),
	}
	s.moved.L = &s.mu
	s.indexes.log = s.log
	if err := s.checkOwner(); err != nil {
		return nil, err
	}
	if err := errors.Join(s.tellStrangers(), s.dir.removeTemporary(), s.archive.removeTemporary()); err != nil {
		return nil, err
	}
	go s.flushLoop()
	go s.archiveLoop()
	return s, nil
}

// checkOwner looks at every header and gap marker. What is torn is left for Resume
// to judge.
func (s *Store) checkOwner() error {
	err := s.checkOwners(segmentSuffix, func(start uint64) ([32]byte, error) {
		h, err := headOf(s.dir.path(start, segmentSuffix))
		return h.owner, err
	})
	if err != nil {
		return err
	}
	err = s.checkOwners(gapSuffix, func(start uint64) ([32]byte, error) {
		g, err := s.dir.readGap(start)
		return g.owner, err
	})
	if err != nil {
		return err
	}
	return s.checkOwners(compactedSuffix, func(start uint64) ([32]byte, error) {
		c, err := compactedHeadOf(s.dir.path(start, compactedSuffix))
		return c.owner, err
	})
}

// tellStrangers says which files of the archive are of no use. They are not read,
// and nothing depends on them: the log is complete without its archive.
func (s *Store) tellStrangers() error {
	starts, err := s.archive.starts(segmentSuffix)
	if err != nil && !notExist(err) {
		return err
	}
	for _, start := range starts {
		path := s.archive.path(start, segmentSuffix)
		h, err := headOf(path)
		if err == nil && h.owner != s.options.Owner {
			err = &ForeignError{Path: path}
		}
		if err != nil {
			s.log.Warn("a file of the archive is not read", "file", path, "error", err)
		}
	}
	return nil
}

func (s *Store) checkOwners(suffix string, ownerOf func(start uint64) ([32]byte, error)) error {
	starts, err := s.dir.starts(suffix)
	if err != nil {
		return err
	}
	for _, start := range starts {
		owner, err := ownerOf(start)
		switch {
		case errors.Is(err, errTorn):
		case err != nil:
			return err
		case owner != s.options.Owner:
			return &ForeignError{Path: s.dir.path(start, suffix)}
		}
	}
	return nil
}

// headOf reads the header of a segment file by name.
func headOf(path string) (head, error) {
	f, err := os.Open(path)
	if err != nil {
		return head{}, err
	}
	defer f.Close()
	return readHead(f, f.Name())
}

// compactedHeadOf reads the header of a compacted segment by name.
func compactedHeadOf(path string) (compactedHead, error) {
	f, err := os.Open(path)
	if err != nil {
		return compactedHead{}, err
	}
	defer f.Close()
	return readCompacted(f, f.Name())
}

// Close writes and fsyncs what is left and ends the store. Reads that are under
// way may finish. It returns the store's failure, if it had one.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.phase == closed {
		s.mu.Unlock()
		<-s.done
		<-s.archiverDone
		return s.Err()
	}
	s.phase = closed
	close(s.closing)
	s.wake()
	s.mu.Unlock()
	<-s.done
	<-s.archiverDone

	s.repair.Lock()
	defer s.repair.Unlock()
	s.dropPartial()
	s.files.Lock()
	defer s.files.Unlock()
	if s.tail != nil {
		if err := s.tail.Close(); err != nil {
			_ = s.fail(fmt.Errorf("close segment: %w", err)) // told by Err, below
		}
		s.tail = nil
	}
	return s.Err()
}

// Err is the failure that ended writing; nil while there is none.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Failed is closed when writing has failed. The node must stop then.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// fail makes the first failure final and wakes everybody who waits. It returns
// the failure that stands.
func (s *Store) fail(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failLocked(err)
}

func (s *Store) failLocked(err error) error {
	if s.err == nil {
		s.err = err
		close(s.failed)
		s.wake()
	}
	return s.err
}

// wake everybody who waits for growth or progress. Called with mu held.
func (s *Store) wake() {
	s.moved.Broadcast()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// Status of the log on this node.
type Status struct {
	Resumed       bool   // Resume or Reset has been called
	FirstSeq      uint64 // the lowest busSeq from which on everything is here
	FirstPosition uint64 // position of the block that holds it
	Damaged       int    // sealed segments found damaged, to be fetched again
	NextSeq       uint64 // one above the highest published one
	Position      uint64 // of the next block, published
	Written       uint64 // position up to which it is in files
	Synced        uint64 // position up to which it is durable
	Comparing     bool   // re-derived blocks are being compared with the files
	Archiving     bool   // the archiver is at work
	ToArchive     int    // archived segments that it has not seen to
	KeptBytes     uint64 // found equal since the store was opened
	CutBytes      uint64 // cut from the files as torn or damaged since then
}

// Status tells how things stand.
func (s *Store) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	toArchive := 0
	for i := range s.archiving.sealed {
		if entry := &s.archiving.sealed[i]; s.archived[entry.Start] < entry.ArchivedAt {
			toArchive++
		}
	}
	return Status{
		Archiving: s.archiving.asked != s.archiving.done, ToArchive: toArchive,
		Resumed: s.phase != opened, FirstSeq: s.floor.NextSeq, FirstPosition: s.floor.Position, Damaged: len(s.bad),
		NextSeq: s.published.seq, Position: s.published.position,
		Written: s.written, Synced: s.synced,
		Comparing: s.comparing, KeptBytes: s.kept, CutBytes: s.cut,
	}
}
