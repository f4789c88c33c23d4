package edn

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/history"
)

// happened is a line that is no client's.
type happened struct {
	at      int64
	id      uint64 // the order at one time
	process string
	f       string
	value   json.RawMessage
}

// fault is the value of a fault's lines.
type fault struct {
	ID     int            `json:"id"`
	Nodes  []string       `json:"nodes"`
	Detail map[string]any `json:"detail,omitempty"`
	Error  string         `json:"error,omitempty"`
}

// act is something that took a while.
type act struct {
	from, to int64
	f        string
	value    fault
}

// happenedIn pairs up what nemeses did, one after the other, and the phases.
func happenedIn(h *history.History) []happened {
	var acts []act
	for i := range h.Faults {
		f := &h.Faults[i]
		value := fault{ID: f.ID, Nodes: f.Nodes, Detail: f.Detail, Error: f.Error}
		there := f.From + max(0, f.Took)
		acts = append(acts, act{from: f.From, to: there, f: "start-" + f.Kind, value: value})
		if f.Until != 0 {
			until := max(there, f.Until)
			acts = append(acts, act{from: until, to: until, f: "stop-" + f.Kind, value: value})
		}
	}
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(a.from, b.from) })
	var all []happened
	var free int64 // when :nemesis is done
	add := func(at int64, process, f string, value any) {
		encoded, err := json.Marshal(value)
		if err != nil {
			panic("edn: a value that was JSON before: " + err.Error())
		}
		all = append(all, happened{at: at, id: uint64(len(all)), process: process, f: f, value: encoded})
	}
	for i := range acts {
		a := &acts[i]
		begin := max(a.from, free)
		free = max(begin, a.to)
		asked := a.value
		asked.Error = ""
		add(begin, "nemesis", a.f, asked)
		add(free, "nemesis", a.f, a.value)
	}
	for _, p := range h.Phases {
		add(p.At, "phase", p.Name, nil)
		add(p.At, "phase", p.Name, nil)
	}
	return all
}
