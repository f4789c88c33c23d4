package replay

import (
	"bytes"
	"slices"

	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Outcome is how a tick ended.
type Outcome struct {
	OK      bool
	Steps   uint32
	Value   value.Raw       // when OK
	Failure failure.Failure // when not
}

// same reports whether two ticks ended alike; nil is a tick that has not.
func (o *Outcome) same(other *Outcome) bool {
	if o == nil || other == nil {
		return o == other
	}
	return o.OK == other.OK && bytes.Equal(o.Value, other.Value) && o.Failure == other.Failure
}

// RequestPair is one call, as it was made and as it is made now; nil where it is
// not made.
type RequestPair struct {
	Call               uint32
	Recorded, Replayed *execution.Request
}

// WhatIfReport says what a change makes different.
type WhatIfReport struct {
	Looked uint64 // runs of ticks that were evaluated under other limits before one differed
	Tick   uint64 // in which something differs, or in which the change is; 0 for none
	Began  uint64 // busSeq at which the record was left
	Given  []execution.Answer
	Used   uint64 // recorded answers, to calls made after that
	Steps  uint64 // taken after that

	Requests   uint64       // calls made after that, as they were made
	Never      *RequestPair // the first call that was never made; nil when there is none
	Recorded   *Outcome     // nil: the tick had not ended where the history does
	Replayed   *Outcome     // nil: it is not known
	EmittedWas []value.Raw  // at most the first 64 on each side, of those that came after that
	EmittedNow []value.Raw
	End        string // why nothing more is known
}

// Differs reports whether anything that can be seen of the tick differs.
func (r *WhatIfReport) Differs() bool {
	return r.Never != nil || !r.Recorded.same(r.Replayed) ||
		!slices.EqualFunc(r.EmittedWas, r.EmittedNow, func(a, b value.Raw) bool { return bytes.Equal(a, b) })
}

func (o *offRecord) report() *WhatIfReport {
	r := &WhatIfReport{
		Tick: o.tick, Began: o.began, Given: o.given, Used: o.used, Steps: o.steps, Never: o.never,
		Recorded: o.outcome, Replayed: o.came, EmittedWas: o.emitted, EmittedNow: o.showed, End: o.ended,
	}
	//lint:ordered they are counted
	for call, made := range o.made {
		if asked, ok := o.asked[call]; ok && sameRequest(&asked, &made) {
			r.Requests++
		}
	}
	return r
}
