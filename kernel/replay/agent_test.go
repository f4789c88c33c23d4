package replay_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
)

// LO-4, INV-15: from the blocks that touch the agent alone, every run of a tick
// gives the recorded records again, with the recorded results.
func TestAgentIsReplayed(t *testing.T) {
	s := story(t)
	a, err := replayed(s.Placed(), s, 1, replay.Range{})
	require.NoError(t, err)
	stats := a.Stats()
	assert.EqualValues(t, 3, stats.Ticks)
	assert.EqualValues(t, 3+2+2+2, stats.Runs, "two calls a tick, of which the second never came in the last")
	assert.EqualValues(t, s.Row(kerneltest.AgentID(1)).LastBlock, a.Slice().Row().LastBlock)
	assert.Greater(t, stats.Compared, stats.Steps+2*stats.Runs-1, "each run's beginning and exit, and each step")
	assert.EqualValues(t, 2+3*4+1, stats.Transitions)
	assert.Equal(t, lifecycle.Faulted, a.Slice().Row().Lifecycle.State)
}

// INV-15, SM-INV-05: whichever record of a run, or transition, says something
// else, that very one is named, with both sides.
func TestFirstDifferenceIsNamed(t *testing.T) {
	s := story(t)
	log := s.Placed()
	kinds := make(map[bus.Kind]bool)
	for _, r := range s.All() {
		kind := bus.Kind(r.Kind)
		switch kind {
		case bus.TickStarted, bus.Step, bus.Emitted, bus.TickPendingTool, bus.TickCompleted, bus.TickFailed:
		default:
			continue
		}
		kinds[kind] = true
		for what, edit := range map[string]func(*logging.Record){
			"body of the record": func(r *logging.Record) {
				r.Body = append([]byte(nil), r.Body...)
				r.Body[len(r.Body)-1] ^= 1
			},
			"number of the tick": func(r *logging.Record) { r.Tick++ },
			"number of the step": func(r *logging.Record) { r.Step += 7 },
			"another record":     func(r *logging.Record) { r.Kind = uint16(bus.TickOverflow) },
		} {
			if what == "another record" && kind == bus.TickStarted {
				continue // then no run begins: the steps have nothing to belong to
			}
			_, err := replayed(tampered(t, log, r.Seq, func(r logging.Record) []logging.Record {
				edit(&r)
				return []logging.Record{r}
			}), s, 1, replay.Range{})
			var d *replay.Deviation
			require.ErrorAs(t, err, &d, "%s of %s %d", what, r.Name, r.Seq)
			assert.Equal(t, r.Seq, d.Seq)
			assert.Equal(t, what, d.What, r.Name)
			require.NotNil(t, d.Recorded)
			require.NotNil(t, d.Replayed)
			assert.Equal(t, string(r.Body), string(d.Replayed.Body), "what was made is what had been recorded")
			assert.ErrorContains(t, err, "REPLAY_DIVERGENCE")
		}
	}
	assert.Len(t, kinds, 6)
}

// INV-15: a run that is cut short, goes on too long, or is interrupted.
func TestMissingAndAddedRecords(t *testing.T) {
	s := story(t)
	log := s.Placed()
	drop := func(logging.Record) []logging.Record { return nil }
	twice := func(r logging.Record) []logging.Record { return []logging.Record{r, r} }
	for name, test := range map[string]struct {
		seq  uint64
		edit func(logging.Record) []logging.Record
		what string
	}{
		"a step is missing":         {first(t, s, bus.Step, 2), drop, "number of the step"},
		"a step too many":           {first(t, s, bus.Step, 2), twice, "number of the step"},
		"what was emitted is gone":  {first(t, s, bus.Emitted, 0), drop, "another record"},
		"the exit is missing":       {first(t, s, bus.TickCompleted, 1), drop, "the run of the tick is cut short"},
		"a tick of nothing":         {first(t, s, bus.InstructionQueued, 1), drop, "a tick begins where there is nothing to run"},
		"another agent interrupted": {first(t, s, bus.Step, 2), func(r logging.Record) []logging.Record { r.Agent = 0; return []logging.Record{r} }, "another record"},
	} {
		_, err := replayed(tampered(t, log, test.seq, test.edit), s, 1, replay.Range{})
		var d *replay.Deviation
		if assert.ErrorAs(t, err, &d, name) {
			assert.Equal(t, test.what, d.What, name)
		}
	}
}

// SM-INV-05: a transition is one of the table's, from where the agent is, and
// the one that the exit before it demands.
func TestTransitionsAreHeldAgainstTheTable(t *testing.T) {
	s := story(t)
	log := s.Placed()
	for name, test := range map[string]struct {
		nth  int
		edit func(*lifecycle.Event)
		what string
	}{
		"from elsewhere": {1, func(e *lifecycle.Event) { e.From = lifecycle.Waiting }, "the transition does not start where the agent is"},
		"by another":     {2, func(e *lifecycle.Event) { e.Caller = lifecycle.Client }, "the table has no such transition for this caller"},
		"no such row":    {1, func(e *lifecycle.Event) { e.Trigger = lifecycle.Timeout }, "the table has no such transition for this caller"},
		"to elsewhere":   {1, func(e *lifecycle.Event) { e.To = lifecycle.Waiting }, "the table leads elsewhere"},
		"another wait":   {2, func(e *lifecycle.Event) { e.Trigger = lifecycle.Yield }, "a tick's exit demands another transition"},
		"another reason": {2, func(e *lifecycle.Event) { e.Reason = "no reason" }, "a tick's exit demands another transition"},
	} {
		seq := first(t, s, bus.Lifecycle, test.nth)
		_, err := replayed(tampered(t, log, seq, func(r logging.Record) []logging.Record {
			e, ok := lifecycle.DecodeEvent(r.Body)
			require.True(t, ok)
			test.edit(e)
			r.Body = e.AppendTo(nil)
			return []logging.Record{r}
		}), s, 1, replay.Range{})
		var d *replay.Deviation
		if assert.ErrorAs(t, err, &d, name) {
			assert.Equal(t, test.what, d.What, name)
			assert.Equal(t, seq, d.Seq, name)
		}
	}
	drop := func(logging.Record) []logging.Record { return nil }
	for _, nth := range []int{2, 14} { // the first wait, and the fault at the end
		_, err := replayed(tampered(t, log, first(t, s, bus.Lifecycle, nth), drop), s, 1, replay.Range{})
		var d *replay.Deviation
		require.ErrorAs(t, err, &d, "transition %d", nth)
		assert.Equal(t, bus.Lifecycle, bus.Kind(d.Replayed.Kind))
	}
}

// A task's end, and that of a delegated agent's fault, follow from the exit too.
func TestTransitionsThatTransitionsDemand(t *testing.T) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"RETURN","payload":{"value":1}}`)}, nil)
	log := s.Placed()
	for _, trigger := range []lifecycle.Trigger{lifecycle.Complete, lifecycle.TeardownOK} {
		var seq uint64
		for _, r := range s.All() {
			if e, ok := r.Content.(*lifecycle.Event); ok && e.Trigger == trigger {
				seq = r.Seq
			}
		}
		_, err := replayed(tampered(t, log, seq, func(logging.Record) []logging.Record { return nil }), s, 1, replay.Range{})
		var d *replay.Deviation
		require.ErrorAs(t, err, &d, trigger.String())
		e, ok := lifecycle.DecodeEvent(d.Replayed.Body)
		require.True(t, ok)
		assert.Equal(t, trigger, e.Trigger)
	}
}

// LO-4: what stands before the range is taken as it is, what stands behind it is
// not looked at.
func TestRangeOfBusSeqs(t *testing.T) {
	s := story(t)
	log := s.Placed()
	from, to := first(t, s, bus.TickStarted, 2), first(t, s, bus.TickStarted, 4)
	within := replay.Range{From: from, To: to}
	a, err := replayed(log, s, 1, within)
	require.NoError(t, err)
	assert.True(t, a.Done())
	assert.Equal(t, from, a.Stats().FirstSeq)
	assert.LessOrEqual(t, a.Stats().LastSeq, to)
	spoil := func(r logging.Record) []logging.Record {
		r.Step += 7
		return []logging.Record{r}
	}
	for nth := range 12 {
		seq := first(t, s, bus.Step, nth)
		_, err := replayed(tampered(t, log, seq, spoil), s, 1, within)
		if seq < from || seq > to {
			assert.NoError(t, err, "busSeq %d", seq)
			continue
		}
		var d *replay.Deviation
		assert.ErrorAs(t, err, &d, "busSeq %d", seq)
	}
	all, err := replayed(log, s, 1, replay.Range{From: 1, To: 1 << 40})
	require.NoError(t, err)
	assert.False(t, all.Done())
}

// What cannot be read says so, and is no deviation: nothing is known about it.
func TestHistoriesThatCannotBeRead(t *testing.T) {
	s := story(t)
	log := s.Placed()
	unreadable := func(r logging.Record) []logging.Record {
		r.Body = []byte{0xff}
		return []logging.Record{r}
	}
	drop := func(logging.Record) []logging.Record { return nil }
	unknown := func(r logging.Record) []logging.Record {
		r.Kind = 100 + uint16(bus.Last)
		return []logging.Record{r}
	}
	for name, log := range map[string]*kerneltest.Placed{
		"a definition that does not decode": tampered(t, log, first(t, s, bus.AgentDefined, 0), unreadable),
		"no definition":                     tampered(t, log, first(t, s, bus.AgentDefined, 0), drop),
		"no body":                           tampered(t, log, first(t, s, bus.Interned, 0), drop),
		"an answer to nothing": tampered(t, log, first(t, s, bus.ResultDelivered, 0), func(r logging.Record) []logging.Record {
			r.Body = (&execution.DeliveredBody{Answer: execution.Answer{Call: 9, OK: true}}).AppendTo(nil)
			return []logging.Record{r}
		}),
		"an unknown record":        tampered(t, log, first(t, s, bus.Allow, 0), unknown),
		"a block of another chain": chained(log, first(t, s, bus.Allow, 0)),
		"a block left out":         {Order: append(append([]uint64(nil), log.Order[:3]...), log.Order[4:]...), Blocks: log.Blocks},
	} {
		_, err := replayed(log, s, 1, replay.Range{})
		require.ErrorIs(t, err, kernel.ErrSlice, name)
		var d *replay.Deviation
		require.False(t, errors.As(err, &d), name)
	}
}

// chained is the log with one block, that of the record, replaced by one that is
// not what later blocks go on from.
func chained(log *kerneltest.Placed, seq uint64) *kerneltest.Placed {
	out := &kerneltest.Placed{Order: log.Order, Blocks: maps.Clone(log.Blocks)}
	for at, b := range log.Blocks {
		if b.FirstSeq <= seq && seq <= b.LastSeq() {
			var other logging.Builder
			other.Begin(b.Index, b.Term+1, b.FirstSeq, b.ClockMillis)
			for records := b.Records(); records.Next(); {
				other.Open(records.Record.Header)
				other.Buf = append(other.Buf, records.Record.Body...)
				other.Close()
			}
			for i := range b.Touched() {
				agent, previous := b.TouchedAt(i)
				other.Touch(agent, previous, b.HeadAt(i))
			}
			raw, _ := other.Seal(b.PrevChain)
			if block, err := logging.Decode(raw); err == nil {
				out.Blocks[at] = &block
			}
		}
	}
	return out
}

// drawn lets a property make the choices of a history.
type drawn struct{ *rapid.T }

func (d drawn) Pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.T, what) }

// INV-15: in any history, a change of any record that a run made is found, in
// that record, from the agent's blocks alone.
func TestAnyChangeOfARunIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := kerneltest.NewHistory(t, 1, 10, drawn{t})
		h.Run(rapid.IntRange(5, 40).Draw(t, "steps"))
		var steps []kerneltest.Record
		for _, r := range h.All() {
			if bus.Kind(r.Kind) == bus.Step {
				steps = append(steps, r)
			}
		}
		if len(steps) == 0 {
			return
		}
		r := steps[rapid.IntRange(0, len(steps)-1).Draw(t, "which")]
		log := h.Placed()
		_, err := replayed(log, h.Sim, r.Agent, replay.Range{})
		require.NoError(t, err)
		_, err = replayed(tampered(t, log, r.Seq, func(r logging.Record) []logging.Record {
			r.Body = execution.StepBody{Node: 1 << 30}.AppendTo(nil)
			return []logging.Record{r}
		}), h.Sim, r.Agent, replay.Range{})
		var d *replay.Deviation
		require.ErrorAs(t, err, &d)
		require.Equal(t, r.Seq, d.Seq)
	})
}
