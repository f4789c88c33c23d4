package consensus

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// applied is what the library hands back for one entry: the state machine's
// answer, and where the entry stands in the log.
type applied struct {
	index, term uint64
	response    any
}

// progress stands between the library and the state machine: it knows what has
// really been applied, and wakes those who wait for it. The library's own
// applied index only says what was sent.
type progress struct {
	StateMachine

	mu      sync.Mutex // guards what follows
	index   uint64
	term    uint64
	waiting int
	moved   chan struct{} // closed when index moves and somebody waits

	restores atomic.Uint64
}

var _ raft.BatchingFSM = (*progress)(nil)

func newProgress(fsm StateMachine) *progress {
	return &progress{StateMachine: fsm, moved: make(chan struct{})}
}

// Apply serves a library that does not batch.
func (p *progress) Apply(entry *raft.Log) any { return p.ApplyBatch([]*raft.Log{entry})[0] }

// ApplyBatch applies and answers a *applied for each entry.
func (p *progress) ApplyBatch(entries []*raft.Log) []any {
	responses := p.StateMachine.ApplyBatch(entries)
	places := make([]applied, len(entries))
	for i, entry := range entries {
		places[i] = applied{entry.Index, entry.Term, responses[i]}
		responses[i] = &places[i]
	}
	last := entries[len(entries)-1]
	p.advance(last.Index, last.Term)
	return responses
}

// Restore replaces the state.
func (p *progress) Restore(r io.ReadCloser) error {
	if err := p.StateMachine.Restore(r); err != nil {
		return err
	}
	p.restores.Add(1)
	p.advance(p.StateMachine.Applied(), 0)
	return nil
}

func (p *progress) advance(index, term uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.index, p.term = index, term
	if p.waiting > 0 {
		close(p.moved)
		p.moved = make(chan struct{})
	}
}

func (p *progress) position() (index, term uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.index, p.term
}

// wait returns when index is applied; otherwise the code that ended the wait.
func (p *progress) wait(ctx context.Context, closing <-chan struct{}, index uint64) Code {
	p.mu.Lock()
	p.waiting++
	defer func() {
		p.waiting--
		p.mu.Unlock()
	}()
	for p.index < index {
		moved := p.moved
		p.mu.Unlock()
		var code Code
		select {
		case <-moved:
		case <-ctx.Done():
			code = Timeout
		case <-closing:
			code = Shutdown
		}
		p.mu.Lock()
		if code != "" && p.index < index {
			return code
		}
	}
	return ""
}

// WaitApplied returns when the state machine has applied index. The error is a
// *Refusal with Timeout or Shutdown.
func (g *Group) WaitApplied(ctx context.Context, index uint64) error {
	if code := g.progress.wait(ctx, g.closing, index); code != "" {
		have, _ := g.progress.position()
		return refusal(code, "waiting for index %d, applied is %d", index, have)
	}
	return nil
}

// Applied is the last entry that the state machine has applied. The term is 0
// right after a snapshot was restored.
func (g *Group) Applied() (index, term uint64) { return g.progress.position() }
