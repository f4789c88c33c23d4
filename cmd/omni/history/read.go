package history

import (
	"errors"
	"io"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// OfAgent reads a stream and feeds what make makes with the history of the
// agent of that id, until it is done or the stream ends. The error is the
// taker's, or says what is wrong with the stream.
func OfAgent(from io.Reader, id string, make replay.Make, told Progress) (Origin, error) {
	buffered, kind, err := kindOf(from)
	if err != nil {
		return Origin{}, err
	}
	if kind == agentKind {
		r, err := logexport.NewAgentReader(buffered)
		if err != nil {
			return Origin{}, err
		}
		return ofExport(r, "agent export", r.Header().AgentID == id, r.Header().Agent, make, told)
	}
	uuid, ok := flows.ParseID(id)
	if !ok {
		return Origin{}, replay.ErrNoAgent
	}
	return inLog(buffered, kind, replay.NewInLog(uuid, make), told)
}

// OfRun does the same with the ledger of the run of that id (RU-4): in a file of its
// own, or out of a whole log.
func OfRun(from io.Reader, id string, make replay.Make, told Progress) (Origin, error) {
	buffered, kind, err := kindOf(from)
	if err != nil {
		return Origin{}, err
	}
	if kind == ledgerKind {
		r, err := logexport.NewLedgerReader(buffered)
		if err != nil {
			return Origin{}, err
		}
		return ofExport(r, "run ledger", r.Header().RunID == id, r.Header().Run, make, told)
	}
	uuid, ok := flows.ParseID(id)
	if !ok {
		return Origin{}, replay.ErrNoRun
	}
	return inLog(buffered, kind, replay.NewRunInLog(uuid, make), told)
}

// inLog feeds what is picked out of a whole log.
func inLog(from io.Reader, kind string, picked *replay.InLog, told Progress) (Origin, error) {
	log, err := wholeLog(from, kind)
	if err != nil {
		return Origin{}, err
	}
	var read uint64
	for !picked.Done() {
		position, b, err := log.next()
		if errors.Is(err, io.EOF) {
			return log.Origin, picked.Over()
		}
		if err == nil {
			err = picked.Block(position, b)
		}
		if err != nil {
			return log.Origin, err
		}
		read += uint64(len(b.Raw))
		told.tell(read)
	}
	return log.Origin, nil
}

var (
	errOther    = errors.New("this is the export of another agent, or the ledger of another run")
	errNotHeld  = errors.New("the export does not hold it")
	errNoConfig = errors.New("the log's first block has no configuration")
)

// ofExport feeds an agent's export, or a run's ledger, if it is of whom was asked for.
func ofExport(r *logexport.SubjectReader, kind string, asked bool, no uint32, make replay.Make, told Progress) (Origin, error) {
	h := r.Header()
	origin := Origin{kind, h.ClusterID, h.KernelID}
	if !asked {
		return origin, errOther
	}
	_, first, err := r.Next()
	if err != nil {
		return origin, noEnd(err)
	}
	config := kernel.ConfigIn(first)
	if config == nil {
		return origin, errNoConfig
	}
	taker := make(no, config, func(no uint32, pointer uint64) ([]byte, error) {
		if b := r.Held(pointer); b != nil {
			if body := kernel.BodyIn(b, no); body != nil {
				return body, nil
			}
		}
		return nil, errNotHeld
	})
	for !taker.Done() {
		position, b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = taker.Block(position, b)
		}
		if err != nil {
			return origin, err
		}
		told.tell(r.Summary().Bytes)
	}
	return origin, nil
}

// noEnd makes an error of an end that comes too soon.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Whole reads a stream and feeds take with every block of the log in it. begin
// is told whose log it is, and gives what takes its blocks.
func Whole(from io.Reader, begin func(Origin) func(b *logging.Block) error, told Progress) (Origin, error) {
	buffered, kind, err := kindOf(from)
	if err != nil {
		return Origin{}, err
	}
	log, err := wholeLog(buffered, kind)
	if err != nil {
		return Origin{}, err
	}
	take := begin(log.Origin)
	var read uint64
	for {
		_, b, err := log.next()
		if errors.Is(err, io.EOF) {
			return log.Origin, nil
		}
		if err == nil {
			err = take(b)
		}
		if err != nil {
			return log.Origin, err
		}
		read += uint64(len(b.Raw))
		told.tell(read)
	}
}

func (p Progress) tell(bytes uint64) {
	if p != nil {
		p(bytes)
	}
}
