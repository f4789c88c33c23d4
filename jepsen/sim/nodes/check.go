package nodes

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// judged is how long the search for a linear order may take. A search that does
// not end is a failure too.
const judged = 60 * time.Second

// Check judges a run. It takes no virtual time: call it outside of the bubble.
func Check(o *Outcome) error {
	if o.Err != nil {
		return o.Err
	}
	if len(o.Nodes) != o.nodes() {
		return fmt.Errorf("%d of %d nodes are there in the end", len(o.Nodes), o.nodes())
	}
	first := o.Nodes[0]
	for _, n := range o.Nodes[1:] {
		if n.Index != first.Index || n.Digest != first.Digest {
			return fmt.Errorf("%s holds %x at index %d, %s %x at %d", first.ID, first.Digest[:4], first.Index, n.ID, n.Digest[:4], n.Index)
		}
		if err := sameLog(first, n); err != nil {
			return err
		}
	}
	seen, err := read(first.Log)
	if err != nil {
		return err
	}
	if kernel.Digest(seen.state) != first.Digest {
		return errors.New("the fold of the log is not the state")
	}
	return errors.Join(effects(o, seen), calls(o, seen), linear(o.Ops))
}

func (o *Outcome) nodes() int { return max(3, o.Options.Nodes) }

func sameLog(a, b Held) error {
	for i := range min(len(a.Log), len(b.Log)) {
		if !bytes.Equal(a.Log[i], b.Log[i]) {
			return fmt.Errorf("block %d differs between %s and %s", i, a.ID, b.ID)
		}
	}
	if len(a.Log) != len(b.Log) {
		return fmt.Errorf("%s has %d blocks, %s %d", a.ID, len(a.Log), b.ID, len(b.Log))
	}
	return nil
}

// record is what the log says.
type record struct {
	state      *state.State
	written    map[int64]int     // effects of writes, by value
	dispatched map[string]uint64 // busSeq of a call's dispatch, by the call's key
	twice      []string          // calls that were dispatched twice
	revoked    map[uint32]uint64 // busSeq of the first revocation, by agent
	over       map[uint32]bool   // TERMINATED
	findings   []string
}

// read folds the log, lets the independent audit judge it (LO-12), and takes down
// what clients and the world have to be compared with.
func read(log [][]byte) (*record, error) {
	seen := &record{
		state: state.New("default"), written: make(map[int64]int), dispatched: make(map[string]uint64),
		revoked: make(map[uint32]uint64), over: make(map[uint32]bool),
	}
	auditor := logaudit.New("default")
	for i, raw := range log {
		if err := kernel.Fold(seen.state, raw); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		if err := auditor.Feed(raw); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		block, err := logging.Decode(raw)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		if err := seen.block(&block); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
	}
	for _, f := range auditor.Report().Findings {
		seen.findings = append(seen.findings, fmt.Sprintf("%+v", f))
	}
	return seen, nil
}

func (s *record) block(b *logging.Block) error {
	var put *event.PutShared
	done := false
	for records := b.Records(); records.Next(); {
		r := records.Record
		content, ok := kernel.DecodeRecordBody(bus.Kind(r.Kind), r.Body)
		if !ok {
			return fmt.Errorf("record %d does not decode", r.Seq)
		}
		switch body := content.(type) {
		case *event.Recorded:
			if body.Event.Kind == event.SharedPut {
				decoded, ok := event.DecodeBody[event.PutShared](body.Event.Body)
				if !ok {
					return fmt.Errorf("record %d: the command does not decode", r.Seq)
				}
				put = decoded
			}
		case *event.Again:
			put = nil // a command that was answered before
		case *event.Outcome:
			done = body.Done()
		case *tools.DispatchedBody:
			id := s.state.Agents.Get(r.Agent).Identity.ID
			key := fmt.Sprintf("%s-%d-%d", flows.FormatID(id), r.Tick, body.Call)
			if s.dispatched[key] != 0 {
				s.twice = append(s.twice, key)
			}
			s.dispatched[key] = r.Seq
			if at := s.revoked[r.Agent]; at != 0 {
				s.findings = append(s.findings, fmt.Sprintf("agent %d's call is dispatched at busSeq %d, its right was revoked at %d", r.Agent, r.Seq, at))
			}
		case *lifecycle.Event:
			s.over[r.Agent] = s.state.Agents.Get(r.Agent).Lifecycle.State == lifecycle.Terminated
		}
		if kind := bus.Kind(r.Kind); (kind == bus.TokenRevoked || kind == bus.GrantRevoked) && s.revoked[r.Agent] == 0 {
			s.revoked[r.Agent] = r.Seq
		}
	}
	if put != nil && done && put.Namespace == namespace {
		value, _ := put.Value.Int()
		s.written[value]++
	}
	return nil
}

// effects: what was acknowledged is in the log once, what was refused is not, and
// of what nobody knows there is one effect at most (CL-2, CL-3).
func effects(o *Outcome, seen *record) error {
	for _, op := range o.Ops {
		if op.Kind == Read {
			continue
		}
		least, most := 0, 0
		switch op.Verdict {
		case Done:
			least, most = 1, 1
		case Unknown:
			most = 1
		}
		if n := seen.written[op.Value]; n < least || n > most {
			return fmt.Errorf("client %d was told %s (verdict %d, %s), and the log has it %d times", op.Client, op, op.Verdict, op.Code, n)
		}
	}
	return nil
}

// calls: nobody called the tool twice for one call, or without its dispatch on
// record, or after the right was gone; and every agent's call came to an end
// (TO-4, TO-5).
func calls(o *Outcome, seen *record) error {
	for key, n := range o.Calls {
		if n > 1 {
			return fmt.Errorf("the call %s was made %d times", key, n)
		}
		if seen.dispatched[key] == 0 {
			return fmt.Errorf("the call %s was made, and no dispatch is on record", key)
		}
	}
	if len(seen.twice) > 0 {
		return fmt.Errorf("calls were dispatched twice: %v", seen.twice)
	}
	for _, e := range o.Errand {
		id, _ := flows.ParseID(e.ID)
		no, row := seen.state.Find(id)
		if e.Started && row == nil {
			return fmt.Errorf("agent %s was acknowledged and is not there", e.ID)
		}
		if row != nil && (row.Lifecycle.State == lifecycle.Waiting || row.Lifecycle.State == lifecycle.Active) {
			return fmt.Errorf("agent %s, %d, is %s in the end", e.ID, no, row.Lifecycle.State)
		}
	}
	if len(seen.findings) > 0 {
		return fmt.Errorf("the audit of the log: %v", seen.findings)
	}
	return nil
}

// linear looks for one order of all operations on each register that agrees with
// what everyone was told.
func linear(ops []Op) error {
	history := make([]porcupine.Operation, 0, len(ops))
	for _, op := range ops {
		if op.Verdict == Refused {
			continue
		}
		told := op.Told
		if op.Verdict == Unknown {
			told = 1 << 62 // it may take effect at any time
		}
		history = append(history, porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Called, Output: op, Return: told})
	}
	switch porcupine.CheckOperationsTimeout(registers, history, judged) {
	case porcupine.Illegal:
		return errors.New("the registers are not linearizable")
	case porcupine.Unknown:
		return errors.New("no linear order of the registers was found in time")
	}
	return nil
}

// registers are the model: a register holds the last value.
var registers = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		byKey := make(map[string]int)
		for _, op := range history {
			key := op.Input.(Op).Key
			at, known := byKey[key]
			if !known {
				at = len(parts)
				byKey[key] = at
				parts = append(parts, nil)
			}
			parts[at] = append(parts[at], op)
		}
		return parts
	},
	Init: func() any { return int64(0) },
	Step: func(held, input, _ any) (bool, any) {
		now, op := held.(int64), input.(Op)
		switch {
		case op.Kind == Read:
			return now == op.Value, now
		case op.Kind == Write:
			return true, op.Value
		case op.Verdict == Conflict:
			return now != op.From, now
		case op.Verdict == Done:
			return now == op.From, op.Value
		case now == op.From: // it may have happened: then it has, from here on
			return true, op.Value
		}
		return true, now
	},
}

// String is one line.
func (o Op) String() string {
	switch o.Kind {
	case Read:
		return fmt.Sprintf("read %s: %d", o.Key, o.Value)
	case Write:
		return fmt.Sprintf("write %s = %d", o.Key, o.Value)
	}
	return fmt.Sprintf("swap %s from %d to %d", o.Key, o.From, o.Value)
}
