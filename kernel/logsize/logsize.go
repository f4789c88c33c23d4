package logsize

import "github.com/omnikernel/omnikernel/kernel/bus"

// Row is what is kept of one agent.
type Row struct {
	Bytes    uint64 // of records about it
	Warned   bool   // it has come to log_warn_bytes
	Exceeded bool   // … and to log_error_bytes
}

// Count takes in that a record of that length was written, its header included.
func (r *Row) Count(bytes int) { r.Bytes += uint64(bytes) }

// ApplyWarning takes an AgentLogWarning record in.
func (r *Row) ApplyWarning() { r.Warned = true }

// ApplyExceeded takes an AgentLogExceeded record in.
func (r *Row) ApplyExceeded() { r.Exceeded = true }

// Mark is the body of AgentLogWarning and AgentLogExceeded.
type Mark struct {
	Bytes uint64 // so far
	Limit uint64 // that it has come to
}

// AppendTo writes the body's log form.
func (m *Mark) AppendTo(dst []byte) []byte {
	return bus.AppendUint(bus.AppendUint(dst, m.Bytes), m.Limit)
}

// DecodeMark reads the body of AgentLogWarning and AgentLogExceeded.
func DecodeMark(raw []byte) (*Mark, bool) {
	d := bus.NewDecoder(raw)
	m := &Mark{Bytes: d.Uint(), Limit: d.Uint()}
	return m, d.Done()
}
