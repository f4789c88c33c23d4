package show

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// AgentExport shows what was written.
func AgentExport(p *tell.Page, s logexport.SubjectSummary) {
	p.Line("%s: %d blocks from busSeq %d to %d, index %d, and %d more for its programs and grants, %s in all",
		p.Good("the agent's chain holds"), s.Blocks, s.FirstSeq, s.LastSeq, s.LastIndex, s.Bodies, Bytes(s.Bytes))
	p.Line("%s", p.Faint("agent "+s.AgentID+" of "+s.ClusterID+"/"+s.KernelID+", head "+s.Head))
}

// Replayed is what a replay came to.
type Replayed struct {
	Origin      string     `json:"origin"` // kind of file; of a live log too
	ClusterID   string     `json:"cluster_id"`
	KernelID    string     `json:"kernel_id"`
	AgentID     string     `json:"agent_id,omitempty"` // none: the whole log
	From        uint64     `json:"from,omitempty"`     // of the range, as asked for
	To          uint64     `json:"to,omitempty"`
	Blocks      uint64     `json:"blocks"`
	Records     uint64     `json:"records"`
	Ticks       uint64     `json:"ticks"`
	Runs        uint64     `json:"runs"`
	Steps       uint64     `json:"steps"`
	Compared    uint64     `json:"compared"`
	Transitions uint64     `json:"transitions"`
	FirstSeq    uint64     `json:"first_bus_seq,omitempty"`
	LastSeq     uint64     `json:"last_bus_seq,omitempty"`
	Millis      int64      `json:"millis"`
	Deviation   *Deviation `json:"deviation,omitempty"`
}

// Deviation is the first record that differs; Recorded and Replayed are what
// stands in the log, and what running again gave.
type Deviation struct {
	BusSeq   uint64          `json:"bus_seq,omitempty"`
	Index    uint64          `json:"index"`
	Position uint64          `json:"position"` // of the block
	What     string          `json:"what"`
	Recorded json.RawMessage `json:"recorded"` // an api.Record, or null
	Replayed json.RawMessage `json:"replayed"`
}

// Stats takes an agent's figures in.
func (r *Replayed) Stats(s replay.Stats) {
	r.Blocks, r.Records, r.Ticks, r.Runs, r.Steps = s.Blocks, s.Records, s.Ticks, s.Runs, s.Steps
	r.Compared, r.Transitions, r.FirstSeq, r.LastSeq = s.Compared, s.Transitions, s.FirstSeq, s.LastSeq
}

// Replay shows it.
func Replay(p *tell.Page, r *Replayed) {
	verdict := p.Good("the log holds")
	if r.Deviation != nil {
		verdict = p.Bad("the log does not hold")
	}
	took := (time.Duration(r.Millis) * time.Millisecond).String()
	if r.AgentID == "" {
		p.Line("%s: %d events applied again, %d records compared, in %s", verdict, r.Blocks, r.Compared, took)
	} else {
		p.Line("%s: %d ticks in %d runs and %d steps, %d of %d records made again and compared, %d transitions, in %s",
			verdict, r.Ticks, r.Runs, r.Steps, r.Compared, r.Records, r.Transitions, took)
	}
	p.Line("%s", p.Faint(r.Origin+" of "+r.ClusterID+"/"+r.KernelID+between(r.FirstSeq, r.LastSeq)))
	if r.Deviation != nil {
		deviation(p, r.Deviation)
	}
}

func deviation(p *tell.Page, d *Deviation) {
	where := fmt.Sprintf("index %d", d.Index)
	if d.BusSeq > 0 {
		where = fmt.Sprintf("busSeq %d, ", d.BusSeq) + where
	}
	p.Line("%s at %s: %s", p.Bad("REPLAY_DIVERGENCE"), where, d.What)
	side(p, "recorded", d.Recorded)
	side(p, "replayed", d.Replayed)
}

func side(p *tell.Page, which string, raw json.RawMessage) {
	var r *api.Record
	if json.Unmarshal(raw, &r) != nil || r == nil {
		p.Line("%s nothing", p.Bold(which))
		return
	}
	p.Line("%s %s tick %d step %d %s", p.Bold(which), r.Kind, r.Tick, r.Step, string(r.Body))
}

func between(first, last uint64) string {
	if last == 0 {
		return ""
	}
	return fmt.Sprintf(", busSeq %d to %d", first, last)
}

// Bytes shows a size.
func Bytes(n uint64) string {
	switch {
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
