package recovery

import "github.com/omnikernel/omnikernel/kernel/bus"

// Row is the module's part of an agent's row.
type Row struct {
	_       struct{} `cbor:",toarray"`
	Tick    uint64   // the tickSeq that Retries counts for
	Retries uint32
}

// Of is how often the tick has been retried.
func (r *Row) Of(tick uint64) uint32 {
	if r.Tick != tick {
		return 0
	}
	return r.Retries
}

// Backoff is the time before the retry that follows the given number of
// retries, in milliseconds: base, doubled each time, at most the limit.
func Backoff(base, limit int64, retries uint32) int64 {
	wait := base
	for range retries {
		if wait >= limit/2 {
			return limit
		}
		wait *= 2
	}
	return min(wait, limit)
}

// Scheduled is the body of RetryScheduled: the nth retry of the record's tick,
// after that many milliseconds.
type Scheduled struct {
	Retry  uint32 // from 1
	Millis int64
}

// AppendTo writes the body's log form.
func (b *Scheduled) AppendTo(dst []byte) []byte {
	return bus.AppendInt(bus.AppendUint(dst, uint64(b.Retry)), b.Millis)
}

// DecodeScheduled reads the body of RetryScheduled.
func DecodeScheduled(raw []byte) (*Scheduled, bool) {
	d := bus.NewDecoder(raw)
	b := &Scheduled{Retry: d.Uint32(), Millis: d.Int()}
	return b, d.Done()
}

// ApplyScheduled counts the retry.
func (r *Row) ApplyScheduled(tick uint64, b *Scheduled) { r.Tick, r.Retries = tick, b.Retry }

// ApplyReclassified starts the count again: an operator took the fault for a
// passing one (FA-2).
func (r *Row) ApplyReclassified() { r.Retries = 0 }
