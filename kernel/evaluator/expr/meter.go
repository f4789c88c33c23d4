package expr

import (
	"math"
	"math/bits"

	"go.starlark.net/starlark"

	"github.com/omnikernel/omnikernel/kernel/failure"
)

// Meter is the budget of one evaluation: steps, and bytes of memory charged
// before they are allocated (EX-11). It also carries what the running
// evaluation needs, so that evaluating allocates nothing of its own. One
// goroutine uses a Meter at a time. Several evaluations may share one Meter:
// they then share the budget.
type Meter struct {
	steps, maxSteps uint32
	bytes, maxBytes uint32

	maxValue uint32 // bound of one value that is built, in bytes
	what     string // whose budget it is, in messages

	env  Env
	vars []starlark.Value // loop variables of the running expression
}

// NewMeter returns a meter with maxSteps steps and maxBytes bytes.
func NewMeter(maxSteps, maxBytes uint32) *Meter {
	return &Meter{maxSteps: maxSteps, maxBytes: maxBytes, maxValue: MaxValueBytes, what: "the expression"}
}

// Reset gives the whole budget back.
func (m *Meter) Reset() { m.steps, m.bytes = 0, 0 }

// Steps used so far, at most the limit.
func (m *Meter) Steps() uint32 { return m.steps }

// Bytes charged so far, at most the limit.
func (m *Meter) Bytes() uint32 { return m.bytes }

// Work is what was used so far in work units: steps and bytes/64.
func (m *Meter) Work() uint32 {
	return uint32(min(uint64(m.steps)+uint64(m.bytes/bytesPerStep), math.MaxUint32))
}

// work charges steps.
func (m *Meter) work(steps uint64) *failure.Failure {
	if steps > uint64(m.maxSteps-m.steps) {
		m.steps = m.maxSteps
		return fail(failure.WorkExceeded, m.what, " needs more than ", decimal(int64(m.maxSteps)), " steps")
	}
	m.steps += uint32(steps)
	return nil
}

// scan charges for looking at n bytes.
func (m *Meter) scan(n uint64) *failure.Failure { return m.work(n / bytesPerStep) }

// visit charges for looking at n items.
func (m *Meter) visit(n uint64) *failure.Failure { return m.work(n / visitsPerStep) }

// alloc charges memory that is about to be allocated.
func (m *Meter) alloc(n uint64) *failure.Failure {
	if n > uint64(m.maxBytes-m.bytes) {
		return fail(failure.ValueTooLarge, m.what, " needs more than ", decimal(int64(m.maxBytes)), " bytes of memory")
	}
	m.bytes += uint32(n)
	return nil
}

// allocText charges for a new text of n bytes and for writing it, and refuses
// one that is too large.
func (m *Meter) allocText(n uint64) *failure.Failure {
	if f := m.checkTextSize(n); f != nil {
		return f
	}
	if f := m.alloc(n + boxBytes); f != nil {
		return f
	}
	return m.scan(n)
}

// allocList charges for a new list of n items.
func (m *Meter) allocList(n uint64) *failure.Failure {
	if n > uint64(m.maxValue) { // an item takes at least one byte
		return tooLarge("the list has more items than fit into ", decimal(int64(m.maxValue)), " bytes")
	}
	if f := m.alloc(listBytes + n*slotBytes); f != nil {
		return f
	}
	return m.visit(n)
}

// allocMap charges for a new map of n members and for putting them in order.
func (m *Meter) allocMap(n uint64) *failure.Failure {
	if n > uint64(m.maxValue) { // a member takes at least two bytes
		return tooLarge("the map has more members than fit into ", decimal(int64(m.maxValue)), " bytes")
	}
	if f := m.alloc(mapBytes + n*memberBytes); f != nil {
		return f
	}
	return m.sort(n)
}

// sort charges for putting n items in order.
func (m *Meter) sort(n uint64) *failure.Failure {
	return m.visit(n * uint64(bits.Len64(n)))
}
