package show

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// WhatIfAnswer is what a what-if found out.
type WhatIfAnswer struct {
	Origin      string          `json:"origin"`
	ClusterID   string          `json:"cluster_id"`
	KernelID    string          `json:"kernel_id"`
	AgentID     string          `json:"agent_id"`
	Limits      []string        `json:"limits,omitempty"` // NAME=N, as asked for
	Results     []GivenResult   `json:"results,omitempty"`
	Differs     bool            `json:"differs"`
	Looked      uint64          `json:"looked,omitempty"`        // with limits: runs that were evaluated before one differed
	Tick        uint64          `json:"tick,omitempty"`          // that is different, or that the result belongs to
	Began       uint64          `json:"began_bus_seq,omitempty"` // the first record that is not there any more
	Steps       uint64          `json:"steps"`                   // taken from there on
	Requests    uint64          `json:"requests"`                // calls that were made as they had been
	Used        uint64          `json:"used"`                    // recorded results that answered them
	Never       *NeverMade      `json:"never_made,omitempty"`
	Recorded    *TickOutcome    `json:"recorded,omitempty"`
	Replayed    *TickOutcome    `json:"replayed,omitempty"`
	EmittedWas  json.RawMessage `json:"emitted_recorded,omitempty"`
	EmittedThen json.RawMessage `json:"emitted_replayed,omitempty"`
	End         string          `json:"end"`
	Millis      int64           `json:"millis"`
}

// GivenResult is a result that was given instead of the recorded one.
type GivenResult struct {
	Call    uint32          `json:"call"`
	Value   json.RawMessage `json:"value,omitempty"`
	Code    string          `json:"code,omitempty"`
	Message string          `json:"message,omitempty"`
}

// NeverMade is the first call that was never made.
type NeverMade struct {
	Call     uint32   `json:"call"`
	Recorded *Request `json:"recorded,omitempty"`
	Replayed *Request `json:"replayed,omitempty"`
}

// Request is what a tick asks for.
type Request struct {
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	TimeoutMS int64           `json:"timeout_ms,omitempty"`
}

// TickOutcome is how a tick ended.
type TickOutcome struct {
	OK      bool            `json:"ok"`
	Steps   uint32          `json:"steps"`
	Value   json.RawMessage `json:"value,omitempty"`
	Code    string          `json:"code,omitempty"`
	Class   string          `json:"class,omitempty"`
	Message string          `json:"message,omitempty"`
	Line    uint32          `json:"line,omitempty"`
}

// WhatIfOf makes the answer of a report.
func WhatIfOf(r *replay.WhatIfReport, limits []string) *WhatIfAnswer {
	a := &WhatIfAnswer{
		Limits: limits, Differs: r.Differs(), Looked: r.Looked, Tick: r.Tick, Began: r.Began, Steps: r.Steps,
		Requests: r.Requests, Used: r.Used, Recorded: outcomeOf(r.Recorded), Replayed: outcomeOf(r.Replayed),
		EmittedWas: valuesOf(r.EmittedWas), EmittedThen: valuesOf(r.EmittedNow), End: r.End,
	}
	for _, given := range r.Given {
		a.Results = append(a.Results, GivenResult{Call: given.Call, Value: valueOf(given.Value), Code: string(given.Code), Message: given.Message})
	}
	if r.Never != nil {
		a.Never = &NeverMade{Call: r.Never.Call, Recorded: requestOf(r.Never.Recorded), Replayed: requestOf(r.Never.Replayed)}
	}
	return a
}

func valueOf(v value.Raw) json.RawMessage {
	if v == nil {
		return nil
	}
	return v.AppendJSON(nil)
}

func valuesOf(all []value.Raw) json.RawMessage {
	if len(all) == 0 {
		return nil
	}
	list := value.AppendListHeader(nil, uint64(len(all)))
	for _, v := range all {
		list = append(list, v...)
	}
	return value.Raw(list).AppendJSON(nil)
}

func requestOf(r *execution.Request) *Request {
	if r == nil {
		return nil
	}
	return &Request{Tool: r.Tool, Args: r.Args.AppendJSON(nil), TimeoutMS: r.Timeout}
}

func outcomeOf(o *replay.Outcome) *TickOutcome {
	if o == nil {
		return nil
	}
	out := &TickOutcome{OK: o.OK, Steps: o.Steps, Value: valueOf(o.Value)}
	if !o.OK {
		f := &o.Failure
		out.Code, out.Class, out.Message, out.Line = string(f.Code), f.Class().String(), f.Message, f.Line
	}
	return out
}

// WhatIf shows it.
func WhatIf(p *tell.Page, a *WhatIfAnswer) {
	for _, r := range a.Results {
		p.Line("%s of tick %d, call %d: %s", p.Bold("another result"), a.Tick, r.Call, clip(given(r)))
	}
	for _, limit := range a.Limits {
		p.Line("%s: %s", p.Bold("another limit"), limit)
	}
	if !a.Differs {
		p.Line("%s", p.Good("nothing differs")+what(a))
		return
	}
	p.Line("%s in tick %d, from busSeq %d on: %d steps, %d calls made as they had been, %d recorded results used, in %s",
		p.Warn("it differs"), a.Tick, a.Began, a.Steps, a.Requests, a.Used, (time.Duration(a.Millis) * time.Millisecond).String())
	if n := a.Never; n != nil {
		p.Line("call %d %s: %s", n.Call, p.Bad("was never made"), request(n.Replayed))
		p.Line("call %d was: %s", n.Call, request(n.Recorded))
	}
	if a.Never == nil || a.Replayed != nil {
		p.Line("the tick %s: %s", p.Bold("ends"), ended(a.Replayed))
	}
	p.Line("the tick %s: %s", p.Bold("ended"), ended(a.Recorded))
	if string(a.EmittedWas) != string(a.EmittedThen) {
		p.Line("it emits %s", clip(orNothing(a.EmittedThen)))
		p.Line("it emitted %s", clip(orNothing(a.EmittedWas)))
	}
	p.Line("%s", p.Faint("no further: "+a.End))
}

func what(a *WhatIfAnswer) string {
	if a.Looked > 0 {
		return fmt.Sprintf(" in %d runs", a.Looked)
	}
	return fmt.Sprintf(" that can be seen of the tick: %d steps, %d recorded results used", a.Steps, a.Used)
}

func given(r GivenResult) string {
	if r.Code != "" {
		return r.Code + " " + r.Message
	}
	return string(r.Value)
}

func request(r *Request) string {
	if r == nil {
		return "none"
	}
	return r.Tool + " " + clip(string(r.Args))
}

func ended(o *TickOutcome) string {
	switch {
	case o == nil:
		return "not known"
	case o.OK:
		return fmt.Sprintf("after %d steps with %s", o.Steps, clip(string(o.Value)))
	}
	return fmt.Sprintf("after %d steps with %s (%s) %s", o.Steps, o.Code, o.Class, o.Message)
}

func orNothing(raw json.RawMessage) string {
	if raw == nil {
		return "nothing"
	}
	return string(raw)
}
