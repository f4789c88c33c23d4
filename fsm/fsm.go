package fsm

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"github.com/omnikernel/omnikernel/fsm/segment"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Options of an FSM.
type Options struct {
	ClusterID  string
	KernelID   string
	Log        *segment.Store // opened, not resumed
	Evaluators flows.Lookup
	Guard      *Guard // nil: no crash-loop guard

	// Fatal ends the process. It is called at most once, for what must not be
	// survived: a divergence, a damaged entry, a log that cannot be written.
	Fatal func(error)
	// Needs is told, before anything of it is applied, that the state will be of a
	// kernel version that older binaries do not know. An error ends the process.
	Needs func(version uint32) error
	// Requested is told of calls that entered the outbox, after their state is
	// published. It must not block.
	Requested func([]tools.Key)
	// Archived is told that a LOG_ARCHIVE was applied: its work begins when a
	// snapshot is taken. It must not block.
	Archived func()
	// Published is told that a new state is there. It must not block.
	Published func(*state.State)
	// Observer is told of every event as it was applied; nil: nobody is.
	Observer Observer

	Logger hclog.Logger
}

// Observer counts what is applied, on the goroutine that applies. It must not block,
// and changes nothing.
type Observer interface {
	Batch(entries int)
	Applied(kind event.Kind, outcome *event.Outcome)
}

// Result is what ApplyBatch answers for a command entry; it is the one type
// that Raft's futures carry.
type Result struct {
	Outcome event.Outcome
	Index   uint64
	Term    uint64
}

// FSM is a kernel under Raft.
type FSM struct {
	options Options
	kernel  *kernel.Kernel // used by Raft's FSM goroutine only
	state   atomic.Pointer[state.State]
	chains  chainRing
	resumed bool
	needs   uint32 // the version that Needs was told
	// archived: an entry of this batch was a LOG_ARCHIVE.
	archived bool
	dead     bool
}

// New returns an FSM before its first entry.
func New(o Options) *FSM {
	f := &FSM{options: o, kernel: kernel.New(o.KernelID, o.Evaluators)}
	f.state.Store(f.kernel.Publish())
	return f
}

// State is the newest published state. It is immutable.
func (f *FSM) State() *state.State { return f.state.Load() }

// Applied is the index of the last event in the state.
func (f *FSM) Applied() uint64 { return f.State().Index }

// Chain returns the chain value after the event at index, if it is recent (LO-3).
func (f *FSM) Chain(index uint64) ([32]byte, bool) { return f.chains.get(index) }

// Apply implements raft.FSM; Raft prefers ApplyBatch.
func (f *FSM) Apply(entry *raft.Log) any { return f.ApplyBatch([]*raft.Log{entry})[0] }

// ApplyBatch implements raft.BatchingFSM. Configuration entries come here too
// and are answered with nil.
func (f *FSM) ApplyBatch(entries []*raft.Log) []any {
	answers := make([]any, len(entries))
	if f.dead {
		return answers
	}
	if err := f.resume(); err != nil {
		f.fatal(err)
		return answers
	}
	if o := f.options.Observer; o != nil {
		o.Batch(len(entries))
	}
	for i, entry := range entries {
		if entry.Type != raft.LogCommand {
			continue
		}
		result, err := f.apply(entry)
		if err != nil {
			f.fatal(fmt.Errorf("fsm: entry at index %d: %w", entry.Index, err))
			return answers
		}
		answers[i] = result
	}
	f.publish()
	return answers
}

func (f *FSM) apply(entry *raft.Log) (*Result, error) {
	e, err := event.Decode(entry.Data)
	if err != nil {
		return nil, unreadable(e.Kind, err)
	}
	if err := f.prepare(event.VersionIn(&e)); err != nil {
		return nil, err
	}
	step := f.kernel.Apply
	if f.options.Guard.enter(entry.Index, entry.Data) {
		step = f.kernel.ApplyQuarantined
	}
	applied := step(entry.Index, entry.Term, &e)
	f.options.Guard.leave()
	if err := f.options.Log.Append(applied.Block, applied.Log); err != nil {
		return nil, err
	}
	f.chains.put(entry.Index, applied.Log.Chain)
	if e.Kind == event.LogArchive && applied.Outcome.Refusal.Code == "" {
		f.archived = true
	}
	if e.Kind == event.Checkpoint {
		if err := f.compare(&e); err != nil {
			return nil, err
		}
	}
	result := &Result{Outcome: applied.Outcome, Index: entry.Index, Term: entry.Term}
	if o := f.options.Observer; o != nil {
		o.Applied(e.Kind, &result.Outcome)
	}
	return result, nil
}

// publish lets readers see the batch: first the log, then the state.
func (f *FSM) publish() {
	f.options.Log.Publish()
	published := f.kernel.Publish()
	f.state.Store(published)
	if keys := f.kernel.Requested(); len(keys) > 0 && f.options.Requested != nil {
		f.options.Requested(keys)
	}
	if f.options.Published != nil {
		f.options.Published(published)
	}
	if f.archived && f.options.Archived != nil {
		f.options.Archived()
	}
	f.archived = false
}

// resume opens the execution log where the state stands, before the first
// entry. Without the history below, reads of it answer HISTORY_BEHIND.
func (f *FSM) resume() error {
	if f.resumed {
		return nil
	}
	tables := *f.kernel.Log()
	err := f.options.Log.Resume(tables)
	var gap *segment.GapError
	var corrupt *segment.CorruptError
	if errors.As(err, &gap) || errors.As(err, &corrupt) {
		f.options.Logger.Warn("the execution log does not reach the snapshot: history below it must come from peers", "error", err)
		err = f.options.Log.Reset(tables)
	}
	if err != nil {
		return fmt.Errorf("execution log: %w", err)
	}
	f.resumed = true
	return nil
}

func (f *FSM) fatal(err error) {
	f.dead = true
	f.options.Fatal(err)
}
