package bus

import "bytes"

// Body is a record's content. AppendTo writes its log form, by hand and
// without reflection, so that the same body is the same bytes on every replica.
type Body interface {
	AppendTo(dst []byte) []byte
}

// Record is one thing that happened, before it has a busSeq.
type Record struct {
	Kind  Kind
	Agent uint32 // AgentNo, 0 when no agent is concerned
	Tick  uint64 // tickSeq, 0 outside a tick
	Step  uint32 // step within the tick, 0 outside one
	Body  Body   // nil for an empty body
}

// At says where a record stands once it is published.
type At struct {
	Seq   uint64 // busSeq
	Index uint64 // Raft index of the event
	Now   int64  // kernel clock, Unix milliseconds
}

// Batch collects what a decider wants to have happened, in order. A decider
// that refuses leaves it empty.
type Batch struct {
	records []Record
}

// Add appends one record.
func (b *Batch) Add(r Record) { b.records = append(b.records, r) }

// Records lists what was added.
func (b *Batch) Records() []Record { return b.records }

// Len is the number of records.
func (b *Batch) Len() int { return len(b.records) }

// Equal reports whether two batches hold the same records, byte for byte.
func (b *Batch) Equal(o *Batch) bool {
	if len(b.records) != len(o.records) {
		return false
	}
	for i := range b.records {
		x, y := &b.records[i], &o.records[i]
		if x.Kind != y.Kind || x.Agent != y.Agent || x.Tick != y.Tick || x.Step != y.Step ||
			!bytes.Equal(x.Body.AppendTo(nil), y.Body.AppendTo(nil)) {
			return false
		}
	}
	return true
}

// Reset empties the batch and keeps its memory; bodies are let go.
func (b *Batch) Reset() {
	clear(b.records)
	b.records = b.records[:0]
}
