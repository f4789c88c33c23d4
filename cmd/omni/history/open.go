package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// Origin says what a history was read from.
type Origin struct {
	Kind      string // of file, in words
	ClusterID string
	KernelID  string
}

// Progress is told how many bytes of blocks were read so far. It may be nil.
type Progress func(bytes uint64)

// ErrKind says that a stream is none of the kinds that hold a history.
var ErrKind = errors.New("this is no agent's export, no run's ledger, no log export and no backup")

// ErrPart says that a stream holds one agent where a whole log is needed.
var ErrPart = errors.New("this is the part of one agent, or of one run: it does not have the whole log")

// The kinds, by how they begin.
const (
	kindBytes  = 8
	agentKind  = "OMNIAGE\n"
	ledgerKind = "OMNILED\n"
	logKind    = "OMNIEXP\n"
	backKind   = "OMNIBACK"
)

// kindOf looks at how a stream begins.
func kindOf(from io.Reader) (*bufio.Reader, string, error) {
	buffered := bufio.NewReaderSize(from, 256<<10)
	start, err := buffered.Peek(kindBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", err
	}
	return buffered, string(start), nil
}

// blocks gives the blocks of a whole log, from the first one on.
type blocks struct {
	Origin
	// next gives a block and its position, until io.EOF. The block is valid
	// until the next call.
	next func() (uint64, *logging.Block, error)
}

// wholeLog opens a stream that holds a whole log.
func wholeLog(from io.Reader, kind string) (*blocks, error) {
	switch kind {
	case agentKind, ledgerKind:
		return nil, ErrPart
	case logKind:
		return fromExport(from)
	case backKind:
		return fromBackup(from)
	}
	return nil, ErrKind
}

func fromExport(from io.Reader) (*blocks, error) {
	r, err := logexport.NewReader(from)
	if err != nil {
		return nil, err
	}
	sum := r.Summary()
	if !sum.Genesis {
		return nil, fmt.Errorf("the export begins at busSeq %d: what is to be replayed needs the log from its beginning", sum.FromSeq)
	}
	return &blocks{Origin{"log export", sum.ClusterID, sum.KernelID}, r.Next}, nil
}

func fromBackup(from io.Reader) (*blocks, error) {
	r, err := backup.NewReader(from)
	if err != nil {
		return nil, err
	}
	if from := r.Header().FullFrom; from > 0 {
		return nil, &backup.PartialError{FullFrom: from}
	}
	if err := r.State(func(kernel.Section) error { return nil }); err != nil {
		return nil, err
	}
	h := r.Header()
	var position uint64
	return &blocks{Origin{"backup", h.ClusterID, h.KernelID}, func() (uint64, *logging.Block, error) {
		raw, err := r.Block()
		if err != nil {
			return 0, nil, err
		}
		at := position
		position += uint64(len(raw))
		b, err := logging.Decode(raw)
		if err != nil {
			return 0, nil, fmt.Errorf("backup: %w", err)
		}
		return at, &b, nil
	}}, nil
}
