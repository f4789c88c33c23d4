package traces

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// place names a tick, or a call of one; call is 0 for the tick itself.
type place struct {
	agent uint32
	tick  uint64
	call  uint32
}

// beginning is the record that began something, and when.
type beginning struct {
	seq uint64
	at  int64 // kernel clock, Unix milliseconds
}

// note remembers what a record begins.
func note(r *logging.Record, at int64, begins func(place, beginning)) {
	switch bus.Kind(r.Kind) {
	case bus.TickStarted:
		if b, ok := execution.DecodeStarted(r.Body); ok && b.Run == 1 { // not a continuation
			begins(place{r.Agent, r.Tick, 0}, beginning{r.Seq, at})
		}
	case bus.CallRequested:
		if b, ok := tools.DecodeRequested(r.Body); ok {
			begins(place{r.Agent, r.Tick, b.Call}, beginning{r.Seq, at})
		}
	}
}

// maxBack bounds how many of an agent's blocks are looked at for a beginning.
const maxBack = 4096

// find finds where a tick or a call began: among what was read lately, else by the agent's
// own chain, from the block back that a pointer leads to. What began too long
// ago, or where this node has nothing, is not found.
func (x *Exporter) find(p place, before uint64) (beginning, bool) {
	if b, ok := x.begun.Get(p); ok {
		return b, true
	}
	tick := false // where the tick began was passed: none of its calls is below
	for range maxBack {
		if before == 0 || tick && p.call != 0 {
			break
		}
		block, err := x.o.Log.BlockAt(before - 1)
		if err != nil {
			break
		}
		for records := block.Records(); records.Next(); {
			if records.Record.Agent == p.agent {
				note(&records.Record, block.ClockMillis, func(other place, b beginning) {
					tick = tick || other == place{p.agent, p.tick, 0}
					x.begun.Add(other, b)
				})
			}
		}
		if b, ok := x.begun.Get(p); ok {
			return b, true
		}
		before, _ = block.Previous(p.agent)
	}
	return beginning{}, false
}
