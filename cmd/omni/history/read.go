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
		return ofExport(buffered, id, make, told)
	}
	uuid, ok := flows.ParseID(id)
	if !ok {
		return Origin{}, replay.ErrNoAgent
	}
	log, err := wholeLog(buffered, kind)
	if err != nil {
		return Origin{}, err
	}
	picked := replay.NewInLog(uuid, make)
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
	errOtherAgent = errors.New("this is the export of another agent")
	errNotHeld    = errors.New("the export does not hold it")
	errNoConfig   = errors.New("the log's first block has no configuration")
)

// ofExport feeds an agent's export.
func ofExport(from io.Reader, id string, make replay.Make, told Progress) (Origin, error) {
	r, err := logexport.NewAgentReader(from)
	if err != nil {
		return Origin{}, err
	}
	h := r.Header()
	origin := Origin{"agent export", h.ClusterID, h.KernelID}
	if h.AgentID != id {
		return origin, errOtherAgent
	}
	_, first, err := r.Next()
	if err != nil {
		return origin, noEnd(err)
	}
	config := kernel.ConfigIn(first)
	if config == nil {
		return origin, errNoConfig
	}
	taker := make(h.Agent, config, func(no uint32, pointer uint64) ([]byte, error) {
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
