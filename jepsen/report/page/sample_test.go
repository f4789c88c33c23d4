package page_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/page"
)

const second = int64(time.Second)

// sampled is a history that looks like one of a run: faults slow operations down
// and leave some of them unknown, and leaders change.
func sampled(seed uint64, operations int, span int64) *history.History {
	dice := rand.New(rand.NewPCG(seed, 1))
	h := &history.History{Phases: []history.Phase{
		{At: 0, Name: history.Setup}, {At: span / 30, Name: history.Calm}, {At: span / 6, Name: history.Faults},
		{At: span * 8 / 10, Name: history.Heal}, {At: span * 19 / 20, Name: history.Final},
	}}
	kinds := []string{"kill", "partition", "pause", "slow-disk", "power-cut", "clock"}
	for at := span / 6; at < span*8/10; {
		lasts := span/40 + dice.Int64N(span/20)
		nodes := []string{fmt.Sprintf("n%d", 1+dice.IntN(3))}
		if dice.IntN(4) == 0 {
			nodes = append(nodes, "n4")
		}
		f := history.Fault{
			ID: len(h.Faults) + 1, Kind: kinds[len(h.Faults)%len(kinds)], Nodes: nodes, From: at, Took: dice.Int64N(second / 5), Until: at + lasts,
			Detail: map[string]any{"draw": dice.IntN(100)},
		}
		h.Faults = append(h.Faults, f)
		at += lasts/2 + dice.Int64N(span/25)
	}
	h.Faults = append(h.Faults, history.Fault{ID: len(h.Faults) + 1, Kind: "loss", Nodes: []string{"n1", "n2"}, From: span / 2, Until: 0, Error: "the switch refuses"})
	lifeOf(h, span)
	leadersOf(h, dice, span)
	for i := range operations {
		h.Ops = append(h.Ops, operation(h, dice, uint64(i+1), int64(i)*span*9/10/int64(operations)+span/40))
	}
	return h
}

func troubled(h *history.History, at int64) *history.Fault {
	for i := range h.Faults {
		if f := &h.Faults[i]; f.Until != 0 && f.From <= at && at <= f.Until {
			return f
		}
	}
	return nil
}

var workloads = []string{"register", "append", "lifecycle", "tools", "streams", "budgets"}

func operation(h *history.History, dice *rand.Rand, id uint64, called int64) history.Op {
	workload := workloads[dice.IntN(len(workloads))]
	names := []string{"read", "write", "cas"}
	op := history.Op{
		ID: id, Process: int(id % 20), Workload: workload, Name: names[dice.IntN(3)], Key: fmt.Sprintf("k%d", dice.IntN(9)),
		Called: called, In: json.RawMessage(fmt.Sprintf(`{"value":%d}`, id)), Node: "n1", Index: id + 100,
	}
	took := int64(float64(3*time.Millisecond) * (0.5 + dice.ExpFloat64()))
	op.Outcome, op.Out = history.Ok, json.RawMessage(`{"version":7}`)
	if f := troubled(h, called); f != nil && called < f.From+second*4 {
		switch dice.IntN(20) {
		case 0, 1:
			took, op.Outcome, op.Out = 2500*int64(time.Millisecond), history.Unknown, nil
			op.Code, op.Error = "TIMEOUT", "nobody answered within 2.5 s"
		default:
			took *= int64(2 + dice.IntN(80))
		}
	}
	if op.Outcome == history.Ok && dice.IntN(60) == 0 {
		op.Outcome, op.Code, op.Error = history.Failed, "VERSION_CONFLICT", "it holds another version"
	}
	op.Returned = called + took
	return op
}

func lifeOf(h *history.History, span int64) {
	for n := range 5 {
		name := fmt.Sprintf("n%d", n+1)
		h.Lives = append(h.Lives, history.Life{At: second / 10, Node: name, What: "started", Wanted: true}, history.Life{At: second, Node: name, What: "ready", Wanted: true})
	}
	for _, f := range h.Faults {
		node := f.Nodes[0]
		switch f.Kind {
		case "kill", "power-cut":
			h.Lives = append(h.Lives, history.Life{At: f.From, Node: node, What: "killed", Wanted: true},
				history.Life{At: f.Until, Node: node, What: "started", Wanted: true}, history.Life{At: f.Until + second, Node: node, What: "ready", Wanted: true})
		case "pause":
			h.Lives = append(h.Lives, history.Life{At: f.From, Node: node, What: "paused", Wanted: true}, history.Life{At: f.Until, Node: node, What: "resumed", Wanted: true})
		}
	}
	h.Lives = append(h.Lives, history.Life{At: span * 7 / 10, Node: "n5", What: "ended", Detail: "exit status 2", Wanted: false})
}

func leadersOf(h *history.History, dice *rand.Rand, span int64) {
	leader, term := "n1", uint64(2)
	seen := make(map[int]bool)
	for at := 2 * second; at < span; at += second / 2 {
		if f := troubled(h, at); f != nil && f.Nodes[0] == leader && !seen[f.ID] {
			seen[f.ID] = true
			leader, term = fmt.Sprintf("n%d", 1+dice.IntN(5)), term+1+dice.Uint64N(2)
		}
		for n := range 5 {
			s := history.Sight{At: at, Node: fmt.Sprintf("n%d", n+1), Role: "follower", Term: term, Healthy: true}
			if s.Node == leader {
				s.Role = "leader"
			}
			if f := troubled(h, at); f != nil && f.Nodes[0] == s.Node {
				s.Silent, s.Role = true, ""
			}
			h.Sights = append(h.Sights, s)
		}
	}
}

// shown is a page of a history, with verdicts of every kind.
func shown(h *history.History) *page.Page {
	at := h.Ops[len(h.Ops)/2].Called
	return &page.Page{
		Name: "partitions-and-kills", About: "Whoever leads is cut off or killed, again and again.", Seed: 1763712000, Word: check.Invalid,
		Facts: []page.Fact{
			{Label: "run again", Text: "bin/jepsen run partitions-and-kills --seed 1763712000"},
			{Label: "began", Text: "2026-11-21T07:30:00Z"}, {Label: "omni", Text: `{"version":"dev","commit":"8c796cc0cc0c","go":"go1.26.8"}`},
		},
		Verdicts: []check.Verdict{
			{Checker: "harness", Word: check.Valid, Figures: map[string]int64{"operations": int64(len(h.Ops)), "faults": int64(len(h.Faults))}, Millis: 12},
			{Checker: "register", Word: check.Invalid, Figures: map[string]int64{"keys": 9, "operations": 5000, "unknown": 31}, Millis: 1830, Files: []string{"register-k3.html"},
				Findings: []check.Finding{
					{Text: "k3: the history is not linearizable", Ops: []uint64{h.Ops[len(h.Ops)/3].ID, h.Ops[len(h.Ops)/3+4].ID}},
					{Text: "k5: a read returned what was never written", Ops: []uint64{h.Ops[len(h.Ops)/2].ID}, At: at},
				}},
			{Checker: "streams", Word: check.Unclear, Figures: map[string]int64{"records": 0}, Findings: []check.Finding{{Text: "nothing came over the stream, so nothing is shown"}}},
			{Checker: "lifecycle", Word: check.Valid, Figures: map[string]int64{"agents": 411, "turns": 1520}, Millis: 88},
		},
		Nodes: []string{"n1", "n2", "n3", "n4", "n5"}, History: h, Pictures: "pictures/",
		Files: []string{"run.json", "history.jsonl", "nodes/n1/1.log"},
	}
}
