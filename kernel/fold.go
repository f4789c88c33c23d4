package kernel

import (
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// ErrFold says that a block's records cannot be applied.
var ErrFold = errors.New("kernel: the block cannot be folded")

// Fold takes one block of the execution log into a state, by the appliers
// alone: nothing is decided, no tick runs. Folding a whole log gives the state
// that running its events gave (mechanics: "Decide, then apply", 7), so the
// log is the sole source of history (kernel-architecture.md 2.8).
func Fold(s *state.State, raw []byte) error {
	block, err := logging.Decode(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFold, err)
	}
	if block.FirstSeq != s.Log.NextSeq || block.Index <= s.Index {
		return fmt.Errorf("%w: busSeq %d at index %d does not follow", ErrFold, block.FirstSeq, block.Index)
	}
	s.Index, s.Term, s.Clock = block.Index, block.Term, block.ClockMillis
	here := logging.PointerTo(s.Log.Position)
	for records := block.Records(); records.Next(); {
		r := records.Record
		kind := bus.Kind(r.Kind)
		body, ok := DecodeRecordBody(kind, r.Body)
		if !ok {
			return fmt.Errorf("%w: record %d of kind %d does not decode", ErrFold, r.Seq, r.Kind)
		}
		if e, ok := body.(*lifecycle.Event); ok && s.StateOf(r.Agent) != e.From { // SM-INV-05
			return fmt.Errorf("%w: the transition of record %d does not start where the agent is", ErrFold, r.Seq)
		}
		if e, ok := body.(*runs.Event); ok && (s.Runs.Get(r.Agent) == nil || s.Runs.Get(r.Agent).State != e.From) { // RU-1
			return fmt.Errorf("%w: the transition of record %d does not start where the run is", ErrFold, r.Seq)
		}
		if apply := routes[kind].apply; apply != nil {
			apply(s, bus.At{Seq: r.Seq, Index: block.Index, Now: block.ClockMillis},
				bus.Record{Kind: kind, Agent: r.Agent, Tick: r.Tick, Step: r.Step, Body: body})
		}
		if r.Agent != 0 {
			row := s.Agents.Edit(r.Agent)
			row.LastBlock = here
			if s.Version() >= 2 {
				row.Logged.Count(r.Size())
			}
		}
	}
	segment := config.Default().SegmentBytes
	if s.Config != nil {
		segment = s.Config.SegmentBytes
	}
	digest := block.Digest()
	for i := range block.Touched() {
		subject, _ := block.TouchedAt(i)
		if block.HeadAt(i) != headOf(s, subject) {
			return fmt.Errorf("%w: the chain value of subject %d is not the one of the blocks before", ErrFold, subject)
		}
		reached(s, subject, logging.ChainAfter(block.HeadAt(i), digest))
	}
	s.Log.Advance(raw, digest, segment)
	return nil
}

// headOf is a subject's own chain value so far.
func headOf(s *state.State, subject uint32) [logging.HashBytes]byte {
	if run, ok := logging.RunOf(subject); ok {
		return s.Runs.Ledger(run).Head
	}
	return s.Agents.Get(subject).Head
}
