package consensus

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// machine is a small real state machine: it keeps every command it applied,
// with its place in the log.
type machine struct {
	mu      sync.Mutex // guards what follows
	history []line
	last    uint64
	gate    chan struct{} // when set, every batch waits for it
	slow    time.Duration // per entry
	restore time.Duration // of a snapshot
}

type line struct {
	Index, Term uint64
	Data        string
}

func (m *machine) ApplyBatch(entries []*raft.Log) []any {
	m.mu.Lock()
	gate, slow := m.gate, m.slow
	m.mu.Unlock()
	if gate != nil {
		<-gate
	}
	if slow > 0 {
		time.Sleep(slow * time.Duration(len(entries)))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]any, len(entries))
	for i, e := range entries {
		m.last = e.Index
		if e.Type == raft.LogCommand {
			m.history = append(m.history, line{e.Index, e.Term, string(e.Data)})
			out[i] = len(m.history)
		}
	}
	return out
}

func (m *machine) Apply(e *raft.Log) any { return m.ApplyBatch([]*raft.Log{e})[0] }

func (m *machine) Applied() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

func (m *machine) lines() []line {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]line(nil), m.history...)
}

// latest is the last command, as the value of a register.
func (m *machine) latest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.history) == 0 {
		return ""
	}
	return m.history[len(m.history)-1].Data
}

type machineSnapshot struct {
	History []line
	Last    uint64
}

func (m *machine) Snapshot() (raft.FSMSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &machineSnapshot{append([]line(nil), m.history...), m.last}, nil
}

func (s *machineSnapshot) Persist(sink raft.SnapshotSink) error {
	if err := json.NewEncoder(sink).Encode(s); err != nil {
		_ = sink.Cancel()
		return fmt.Errorf("write snapshot: %w", err)
	}
	return sink.Close()
}

func (s *machineSnapshot) Release() {}

func (m *machine) Restore(r io.ReadCloser) error {
	defer func() { _ = r.Close() }()
	var s machineSnapshot
	if err := json.NewDecoder(r).Decode(&s); err != nil {
		return fmt.Errorf("read snapshot: %w", err)
	}
	time.Sleep(m.restore)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.history, m.last = s.History, s.Last
	return nil
}
