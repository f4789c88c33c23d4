package check

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Errands judges calls of a tool outside (TO-2, TO-4): the counting service's hits
// against the log.
//
// A call that must not be made twice has one dispatch on record at most, between its
// request and its result, and the service was hit at most once under its key, with
// that dispatch on record. A call that may be made again was hit once, and once more
// for each leader that there was before its result. A result that was delivered as
// good is what the service answered to that call. Who called again had no good
// result before. And every agent came to rest.
type Errands struct{}

// Name implements Checker.
func (Errands) Name() string { return model.Errands }

// call is one call, as the log has it.
type call struct {
	agent      string
	requested  uint64 // busSeqs; 0 for what is not there
	dispatched uint64
	resolved   uint64
	idempotent bool
	ok         bool
	code       string
	value      json.RawMessage
	leaders    int // that began between its request and its result
	hits       []history.Hit
}

// resting is where an agent stands in the end.
type resting struct {
	state  model.State
	class  string
	result json.RawMessage // of its last tick that completed
}

// Check implements Checker.
func (c Errands) Check(_ context.Context, e *Evidence) Verdict {
	t := newTally(c.Name())
	calls, agents, err := readCalls(t, e.Log)
	if err != nil {
		t.doubt(0, nil, "the log cannot be read: %v", err)
		return t.end()
	}
	ours := make(map[string]bool)
	for _, op := range e.Of(model.Errands) {
		ours[op.Key] = true
		c.rested(t, &op, agents[op.Key])
	}
	for _, name := range []string{"calls", "dispatches", "outcome unknown", "hits", "hit again", "dropped", "late"} {
		t.count(name, 0)
	}
	hits(t, e.Hits, calls)
	bySite := make(map[string][]*call)
	for _, key := range calls.order {
		k := calls.byKey[key]
		k.judge(t, key)
		for _, h := range k.hits {
			if ours[k.agent] {
				bySite[h.Name] = append(bySite[h.Name], k)
			}
		}
	}
	for _, h := range e.Hits { // in order, each site once
		again(t, h.Name, bySite[h.Name])
		delete(bySite, h.Name)
	}
	if t.verdict.Figures["hits"] == 0 {
		t.doubt(0, nil, "the service was never called")
	}
	return t.end()
}

// callLog is all calls of a log, in the order of their requests.
type callLog struct {
	byKey map[string]*call
	order []string
}

// readCalls takes the calls of external tools, and the ends of agents, out of a log.
func readCalls(t *tally, log []api.Record) (*callLog, map[string]*resting, error) {
	calls := &callLog{byKey: make(map[string]*call)}
	agents := make(map[string]*resting)
	leaders := 0
	for i := range log {
		r := &log[i]
		var err error
		switch r.Kind {
		case "EVENT":
			var c command
			// A leader that has applied nothing yet, after all nodes started anew, proposes
			// the configuration first; that it is refused does not matter.
			if c, err = readCommand(r); c.Event == "LEADER_STARTED" || c.Event == "KERNEL_BOOTED" {
				leaders++
			}
		case "CALL_REQUESTED", "CALL_DISPATCHED", "ACTION_EXECUTED", "ACTION_FAILED", "RESULT_DELIVERED":
			err = calls.add(t, r, leaders)
		case "AGENT_DEFINED":
			agents[r.AgentID] = &resting{state: model.Defined}
		case "LIFECYCLE", "TICK_COMPLETED":
			err = agents[r.AgentID].add(r)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return calls, agents, nil
}

func (a *resting) add(r *api.Record) error {
	body, err := bodyOf[struct {
		To    model.State     `json:"to"`
		Class string          `json:"class"`
		Value json.RawMessage `json:"value"`
	}](r)
	switch {
	case err != nil:
		return err
	case a == nil:
		return fmt.Errorf("record %d is about agent %s, which is not defined", r.BusSeq, r.AgentID)
	case r.Kind == "LIFECYCLE":
		a.state, a.class = body.To, body.Class
	default:
		a.result = body.Value
	}
	return nil
}

func (l *callLog) add(t *tally, r *api.Record, leaders int) error {
	body, err := bodyOf[struct {
		Call       json.Number     `json:"call"`
		Idempotent bool            `json:"idempotent"`
		OK         bool            `json:"ok"`
		Code       string          `json:"code"`
		Value      json.RawMessage `json:"value"`
	}](r)
	if err != nil {
		return err
	}
	key := callKey(r, body.Call.String())
	c := l.byKey[key]
	switch {
	case r.Kind == "CALL_REQUESTED":
		if c != nil {
			t.find(0, nil, "call %s is requested a second time at busSeq %d", key, r.BusSeq)
		}
		l.byKey[key] = &call{agent: r.AgentID, requested: r.BusSeq, idempotent: body.Idempotent, leaders: leaders}
		l.order = append(l.order, key)
	case c == nil && r.Kind == "CALL_DISPATCHED":
		t.find(0, nil, "call %s is dispatched at busSeq %d, and was not requested", key, r.BusSeq)
	case c == nil: // a tool of the kernel, or a call that was denied
	case r.Kind == "CALL_DISPATCHED":
		switch {
		case c.dispatched != 0:
			t.find(0, nil, "call %s is dispatched at busSeq %d and again at %d", key, c.dispatched, r.BusSeq)
		case c.resolved != 0:
			t.find(0, nil, "call %s is dispatched at busSeq %d, and was over at %d", key, r.BusSeq, c.resolved)
		case c.idempotent:
			t.find(0, nil, "call %s is dispatched at busSeq %d, and may be made again anyway", key, r.BusSeq)
		}
		c.dispatched = r.BusSeq
	case r.Kind == "RESULT_DELIVERED":
		c.ok, c.code, c.value = body.OK, body.Code, body.Value
		fallthrough
	default:
		if c.resolved == 0 {
			c.resolved, c.leaders = r.BusSeq, leaders-c.leaders
		}
	}
	return nil
}

// callKey names a call for ever, as its receiver is told (TO-4).
func callKey(r *api.Record, call string) string {
	return fmt.Sprintf("%s-%d-%s", r.AgentID, r.Tick, call)
}

// hits gives the service's hits to the calls that they were for.
func hits(t *tally, all []history.Hit, calls *callLog) {
	for _, h := range all {
		t.count("hits", 1)
		switch h.Fate {
		case model.FateDropped:
			t.count("dropped", 1)
		case model.FateLate:
			t.count("late", 1)
		}
		c := calls.byKey[h.Key]
		if c == nil {
			t.find(h.At, nil, "the service was hit for %s under the key %q, and the log has no such call", h.Name, h.Key)
			continue
		}
		c.hits = append(c.hits, h)
	}
}

// judge compares a call with its hits.
func (c *call) judge(t *tally, key string) {
	t.count("calls", 1)
	if c.dispatched != 0 {
		t.count("dispatches", 1)
	}
	if c.code == "OUTCOME_UNKNOWN" {
		t.count("outcome unknown", 1)
	}
	at := int64(0)
	if len(c.hits) > 0 {
		at = c.hits[0].At
	}
	most := 1
	if c.idempotent {
		most += c.leaders
	}
	switch {
	case len(c.hits) > most:
		t.find(at, nil, "call %s hit the service %d times, and %d were right", key, len(c.hits), most)
	case len(c.hits) > 1:
		t.count("hit again", 1)
	}
	if len(c.hits) > 0 && !c.idempotent && c.dispatched == 0 {
		t.find(at, nil, "call %s hit the service, and no dispatch is on record", key)
	}
	if c.resolved == 0 {
		t.find(at, nil, "call %s was requested at busSeq %d, and has no result", key, c.requested)
	}
	if c.ok && !c.answered() {
		t.find(at, nil, "call %s was given the result %s, and the service did not answer so", key, c.value)
	}
}

// answered is whether the service gave the answer that was delivered.
func (c *call) answered() bool {
	var result struct {
		Status int                 `json:"status"`
		Body   model.ServiceAnswer `json:"body"`
	}
	if json.Unmarshal(c.value, &result) != nil || result.Status != 200 {
		return false
	}
	for _, h := range c.hits {
		if h.Fate != model.FateDropped && (model.ServiceAnswer{N: h.N, Name: h.Name, Key: h.Key}) == result.Body {
			return true
		}
	}
	return false
}

// again judges the calls of one site, in their order: after a good result none
// follows.
func again(t *tally, site string, calls []*call) {
	for i, c := range calls {
		if c.ok && i+1 < len(calls) && calls[i+1] != c {
			t.find(0, nil, "%s was called again at busSeq %d after a good result at %d", site, calls[i+1].requested, c.resolved)
		}
	}
}

// rested demands that the agent is there if it was acknowledged, came to rest, and
// that a read told its result.
func (Errands) rested(t *tally, op *history.Op, a *resting) {
	ids := []uint64{op.ID}
	switch {
	case op.Name == "start":
		t.count("errands", 1)
		switch {
		case a == nil && op.Outcome == history.Ok:
			t.find(op.Called, ids, "agent %s was acknowledged, and is not there", op.Key)
		case a != nil && a.state != model.Terminated && (a.state != model.Faulted || a.class == "TRANSIENT"):
			t.find(op.Called, ids, "agent %s is %s in the end", op.Key, a.state)
		}
	case op.Outcome == history.Ok:
		out, err := history.Decode[model.ErrandOut](op.Out)
		if err != nil || out.State != model.Terminated {
			return
		}
		t.count("results", 1)
		told, err := canonical(json.RawMessage(out.Result))
		has := ""
		if err == nil && a != nil {
			has, err = canonical(a.result)
		}
		if err != nil || told != has {
			t.find(op.Called, ids, "agent %s was read to have come to %s, and the log has %s", op.Key, told, has)
		}
	}
}

var _ Checker = Errands{}
