package replay

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// ErrLog says that a block holds no event that could be applied again.
var ErrLog = errors.New("replay: the log cannot be replayed")

// Log replays a whole log, from its first block: every event is applied to a
// kernel of its own, and must give the block that stands there.
type Log struct {
	kernel *kernel.Kernel
	blocks uint64
}

// NewLog replays the log of the kernel with that id, from its beginning.
func NewLog(kernelID string, lookup flows.Lookup) *Log {
	return &Log{kernel: kernel.New(kernelID, lookup)}
}

// Resume replays a log from where a restored kernel stands.
func Resume(k *kernel.Kernel) *Log { return &Log{kernel: k} }

// Kernel is the kernel that has applied every event so far.
func (l *Log) Kernel() *kernel.Kernel { return l.kernel }

// Blocks is how many blocks there were.
func (l *Log) Blocks() uint64 { return l.blocks }

// Block replays the next block. The error is a *Deviation; else the block holds
// nothing that could be applied. After an error the log is of no further use.
func (l *Log) Block(b *logging.Block) (err error) {
	at := l.kernel.Log().Point
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: the event at index %d stops the kernel", ErrLog, b.Index)
		}
	}()
	if b.FirstSeq != at.NextSeq || b.Index <= at.LastIndex {
		return fmt.Errorf("%w: the block at index %d does not follow", ErrLog, b.Index)
	}
	e, quarantined, ok := eventOf(b)
	if !ok {
		return fmt.Errorf("%w: the block at index %d does not begin with its event", ErrLog, b.Index)
	}
	apply := l.kernel.Apply
	if quarantined {
		apply = l.kernel.ApplyQuarantined
	}
	derived, err := logging.Decode(apply(b.Index, b.Term, e).Block)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrLog, err)
	}
	l.kernel.Requested() // nobody runs them
	l.blocks++
	first := logging.DifferenceOf(b, &derived)
	if first.What == "" {
		return nil
	}
	return &Deviation{
		Position: at.Position, Index: b.Index, Term: b.Term, ClockMillis: b.ClockMillis, Seq: first.Seq, What: first.What,
		Recorded: kept(first.A), Replayed: kept(first.B),
	}
}

// eventOf reads the event that a block came of.
func eventOf(b *logging.Block) (e *event.Event, quarantined, ok bool) {
	records := b.Records()
	if !records.Next() || bus.Kind(records.Record.Kind) != bus.Event {
		return nil, false, false
	}
	recorded, ok := event.DecodeRecorded(records.Record.Body)
	if !ok {
		return nil, false, false
	}
	quarantined = records.Next() && bus.Kind(records.Record.Kind) == bus.Quarantine
	return recorded.Event, quarantined, quarantined || kernel.Readable(recorded.Event)
}

func kept(r *logging.Record) *logging.Record {
	if r == nil {
		return nil
	}
	dup := *r
	dup.Body = append([]byte(nil), dup.Body...)
	return &dup
}
