package check

import (
	"context"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Lifecycle judges agents by the transition table and by model.Agent.
//
// Of every agent in the log, whoever made it: its transitions are a path of the
// table from DEFINED (LC-1), taken by those who may (LC-3), and what was refused as
// INVALID_TRANSITION is not in the table (LC-2).
//
// Of those that change only by commands, the workload lifecycle's: each command
// in the log did what the model says, and was answered so, to the code and the
// state; what was answered first stands first; a read saw the state of its index;
// and there is one order of all operations on an agent in which every answer is right
// (porcupine), where the log is believed in one thing only: what it does not have did
// not happen.
type Lifecycle struct {
	// Search bounds the search for an order of one agent's operations; 20 s if
	// zero.
	Search time.Duration
}

// Name implements Checker.
func (Lifecycle) Name() string { return "lifecycle" }

// Check implements Checker.
func (l Lifecycle) Check(ctx context.Context, e *Evidence) Verdict {
	t := newTally("lifecycle")
	paths, err := readPaths(t, e.Log)
	if err != nil {
		t.doubt(0, nil, "the log cannot be read: %v", err)
		return t.end()
	}
	commands, err := readCommands(e.Log)
	if err != nil {
		t.doubt(0, nil, "the log cannot be read: %v", err)
		return t.end()
	}
	ops := e.Of(model.Lifecycle)
	asks, err := asksOf(ops)
	if err != nil {
		t.doubt(0, nil, "the history cannot be read: %v", err)
		return t.end()
	}
	replayCommands(t, commands, asks, paths)
	happened := make(map[[2]string]bool)
	for i := range commands.all {
		if c := &commands.all[i]; c.done() {
			happened[[2]string{c.Event, c.Body}] = true
		}
	}
	byAgent, order := byKey(ops)
	t.count("commanded agents", len(order))
	for _, id := range order {
		inTurn(t, byAgent[id], id)
		sawState(t, byAgent[id], paths[id])
		if ctx.Err() == nil {
			l.search(t, e.Dir, byAgent[id], id, happened)
		}
	}
	switch {
	case ctx.Err() != nil:
		t.doubt(0, nil, "there was no time to look at every agent")
	case t.verdict.Figures["transitions"] == 0:
		t.doubt(0, nil, "the log has no transition")
	}
	return t.end()
}

// path is how an agent's state went on.
type path struct {
	state model.State
	steps []step
}

type step struct {
	seq, index uint64
	to         model.State
}

// asOf is the agent's state after the event at an index.
func (p *path) asOf(index uint64) model.State {
	if p == nil {
		return model.Nobody
	}
	n, _ := slices.BinarySearchFunc(p.steps, index, func(s step, index uint64) int {
		if s.index <= index {
			return -1
		}
		return 1
	})
	if n == 0 {
		return model.Nobody
	}
	return p.steps[n-1].to
}

// readPaths follows every agent through the table.
func readPaths(t *tally, log []api.Record) (map[string]*path, error) {
	paths := make(map[string]*path)
	for i := range log {
		r := &log[i]
		switch r.Kind {
		case "AGENT_DEFINED":
			if paths[r.AgentID] != nil {
				t.find(0, nil, "agent %s is defined a second time at busSeq %d", r.AgentID, r.BusSeq)
			}
			paths[r.AgentID] = &path{state: model.Defined, steps: []step{{r.BusSeq, r.Index, model.Defined}}}
		case "LIFECYCLE", "INVALID_TRANSITION":
			body, err := bodyOf[struct {
				From    model.State `json:"from"`
				To      model.State `json:"to"`
				Trigger string      `json:"trigger"`
				Caller  string      `json:"caller"`
			}](r)
			if err != nil {
				return nil, err
			}
			p := paths[r.AgentID]
			if p == nil {
				t.find(0, nil, "busSeq %d is about agent %s, which is not defined", r.BusSeq, r.AgentID)
				continue
			}
			if body.From != p.state {
				t.find(0, nil, "busSeq %d says that agent %s is %s, and it is %s", r.BusSeq, r.AgentID, body.From, p.state)
			}
			to, ok := model.Next(p.state, body.Trigger, body.Caller)
			if r.Kind == "INVALID_TRANSITION" {
				t.count("refused transitions", 1)
				if ok {
					t.find(0, nil, "busSeq %d refuses %s by %s to agent %s in %s, and the table has it", r.BusSeq, body.Trigger, body.Caller, r.AgentID, p.state)
				}
				continue
			}
			t.count("transitions", 1)
			if !ok || to != body.To {
				t.find(0, nil, "busSeq %d: agent %s goes from %s to %s by %s of %s, and the table has no such row",
					r.BusSeq, r.AgentID, p.state, body.To, body.Trigger, body.Caller)
			}
			p.state = body.To
			p.steps = append(p.steps, step{r.BusSeq, r.Index, body.To})
		}
	}
	t.count("agents", len(paths))
	return paths, nil
}

// commanded is what a command of the log stands for.
type commanded struct {
	agent string
	ask   model.Ask
	id    uint64
}

// asksOf tells what each command means, by its kind and body.
func asksOf(ops []history.Op) (map[[2]string]commanded, error) {
	asks := make(map[[2]string]commanded)
	for i := range ops {
		op := &ops[i]
		if op.Sent == nil {
			continue
		}
		ask, err := history.Decode[model.Ask](op.In)
		if err != nil {
			return nil, err
		}
		body, err := canonical(op.Sent.Body)
		if err != nil {
			return nil, err
		}
		asks[[2]string{op.Sent.Event, body}] = commanded{op.Key, ask, op.ID}
	}
	return asks, nil
}

// replayCommands applies the log's commands to the model.
func replayCommands(t *tally, log *commandLog, asks map[[2]string]commanded, paths map[string]*path) {
	agents := make(map[string]model.Agent)
	for i := range log.all {
		c := &log.all[i]
		what, known := asks[[2]string{c.Event, c.Body}]
		if !known || !c.Judged || c.Code != "" && !kernels(c.Code) {
			continue // its session, or its key, refused it: no agent was asked
		}
		ids := []uint64{what.id}
		before := agents[what.agent]
		after, answer := before.Do(what.ask)
		t.count("replayed commands", 1)
		switch {
		case c.Code != answer.Code:
			t.find(0, ids, "busSeq %d: %s to agent %s, which is %s, came to %q instead of %q", c.Seq, what.ask.Do, what.agent, before, c.Code, answer.Code)
		case c.Code == "" && model.State(c.State) != answer.State:
			t.find(0, ids, "busSeq %d: %s to agent %s, which was %s, is answered with %s instead of %s", c.Seq, what.ask.Do, what.agent, before, c.State, answer.State)
		case paths[what.agent].asOf(c.Index) != after.State:
			t.find(0, ids, "busSeq %d: after %s agent %s, which was %s, is %s instead of %s", c.Seq, what.ask.Do, what.agent, before, paths[what.agent].asOf(c.Index), after)
		}
		agents[what.agent] = after
	}
}

// byKey sorts operations by what they are about, in the order of the first calls.
func byKey(ops []history.Op) (map[string][]history.Op, []string) {
	parts := make(map[string][]history.Op)
	var order []string
	for i := range ops {
		key := ops[i].Key
		if parts[key] == nil {
			order = append(order, key)
		}
		parts[key] = append(parts[key], ops[i])
	}
	return parts, order
}

// inTurn demands that of two operations the one that was answered before the other
// was asked for has the lower index; a read may have the same.
func inTurn(t *tally, ops []history.Op, key string) {
	placed := slices.DeleteFunc(slices.Clone(ops), func(op history.Op) bool {
		return op.Index == 0 || op.Outcome == history.Unknown || op.Outcome == history.Failed && !told(&op)
	})
	over := slices.Clone(placed)
	slices.SortFunc(over, func(a, b history.Op) int { return int(a.Returned - b.Returned) })
	var last *history.Op
	at := 0
	for i := range placed { // in the order of the calls
		op := &placed[i]
		for ; at < len(over) && over[at].Returned < op.Called; at++ {
			if last == nil || over[at].Index > last.Index {
				last = &over[at]
			}
		}
		if last != nil && (op.Index < last.Index || op.Index == last.Index && op.Sent != nil && last.Sent != nil) {
			t.find(op.Returned, []uint64{last.ID, op.ID}, "%s: %s was asked for after %s was answered with index %d, and has index %d",
				key, op.Name, last.Name, last.Index, op.Index)
		}
	}
}

// told is whether a failure was an answer: the kernel's refusal of a command, or a
// read of what is not there. A read that could not be answered names the index at
// which the node stood, which orders nothing.
func told(op *history.Op) bool {
	if op.Sent == nil {
		return op.Code == "NOT_FOUND"
	}
	return kernels(op.Code)
}

// sawState demands that a read gave the state as of the index that it names.
func sawState(t *tally, ops []history.Op, p *path) {
	for i := range ops {
		op := &ops[i]
		if op.Sent != nil || op.Index == 0 {
			continue
		}
		var seen model.Seen
		switch {
		case op.Outcome == history.Ok:
			var err error
			if seen, err = history.Decode[model.Seen](op.Out); err != nil {
				t.doubt(0, nil, "operation %d cannot be read: %v", op.ID, err)
				continue
			}
		case op.Code != "NOT_FOUND":
			continue
		}
		t.count("reads", 1)
		if was := p.asOf(op.Index); was != seen.State {
			t.find(op.Returned, []uint64{op.ID}, "agent %s was read as %q at index %d, and was %q", op.Key, seen.State, op.Index, was)
		}
	}
}

// search looks for one order of all operations on an agent, and draws what it
// looked at when there is none.
func (l Lifecycle) search(t *tally, dir string, ops []history.Op, id string, happened map[[2]string]bool) {
	operations := make([]porcupine.Operation, 0, len(ops))
	for i := range ops {
		op := &ops[i]
		step, ok, err := agentStep(op)
		if err == nil && step.Outcome == model.Maybe && ok {
			var body string
			body, err = canonical(op.Sent.Body)
			ok = happened[[2]string{op.Sent.Event, body}]
			t.count("unknown", 1)
		}
		if err != nil {
			t.doubt(0, nil, "operation %d cannot be read: %v", op.ID, err)
			return
		}
		if ok {
			operations = append(operations, porcupine.Operation{ClientId: op.Process, Input: step, Call: op.Called, Return: op.End()})
		}
	}
	t.count("searched operations", len(operations))
	bound := l.Search
	if bound == 0 {
		bound = 20 * time.Second
	}
	agents := model.Agents()
	result, info := porcupine.CheckOperationsVerbose(agents, operations, bound)
	switch result {
	case porcupine.Ok:
		return
	case porcupine.Illegal:
		t.find(operations[0].Call, unplaced(operations, info, func(step any) uint64 { return step.(model.AgentStep).ID }), "there is no order of the operations on agent %s in which every answer is right", id)
	case porcupine.Unknown:
		t.doubt(0, nil, "no order of the operations on agent %s was found in %s", id, bound)
	}
	t.draw(dir, "agent-"+id+".html", agents, info)
}

// agentStep is an operation for the search; false when it says nothing.
func agentStep(op *history.Op) (s model.AgentStep, ok bool, err error) {
	s.ID = op.ID
	if s.Ask, err = history.Decode[model.Ask](op.In); err != nil {
		return s, false, err
	}
	switch op.Outcome {
	case history.Ok:
		seen, err := history.Decode[model.Seen](op.Out)
		s.Answer.State = seen.State
		return s, true, err
	case history.Unknown:
		s.Outcome = model.Maybe
		return s, op.Sent != nil, nil
	}
	if info, known := api.Lookup(op.Code); !known || info.Retry && op.Index == 0 || !kernels(op.Code) {
		return s, false, nil // nobody judged it
	}
	refusal, err := history.Decode[model.Seen](op.Out)
	s.Outcome, s.Answer = model.Refused, model.Answer{Code: op.Code, State: refusal.State}
	return s, true, err
}

func opIDs(ops []history.Op) []uint64 {
	ids := make([]uint64, 0, len(ops))
	for i := range ops {
		ids = append(ids, ops[i].ID)
	}
	return ids
}

var _ Checker = Lifecycle{}
