package logaudit

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/authority"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Auditor reads one log from its beginning. It is used by one goroutine.
type Auditor struct {
	verifier  *logging.Verifier
	broken    error
	holders   *authority.Tables
	agents    map[uint32]*agent      // that are not TERMINATED
	waiting   map[uint64]*escalation // requests that wait for a decision, by id
	config    *config.Config         // nil before the cluster has one
	clock     int64                  // greatest wall time of any event so far
	contains  [2]uint32              // the pair of lists that was found contained last
	tree      logging.Tree           // over the blocks so far
	claims    []claim                // of forks, not compared yet
	stopped   bool                   // the kernel is suspended
	purse     purse
	catalogue catalogue
	runs      map[uint32]*run    // that are not over, by their root agents
	ledgers   map[uint32]*ledger // of runs that somebody works for who lives
	people    people
	report    Report

	// The block that is being read.
	before   logging.Point
	index    uint64
	now      int64
	place    uint32            // of the next record
	event    *event.Event      // what it holds aliases the block
	result   *event.Result     // of a TOOL_RESULT event, or of a TASK_ANSWER
	answerer identity.ID       // whose call a TASK_ANSWER is for
	hand     *event.Dispatched // of a TOOL_DISPATCHED event
	touched  []*agent          // to be looked at when it ends
	grown    []*agent          // that it is about, from kernel version 2 on
	first    uint64            // busSeq of the event
	entered  uint32            // kernel version in force when it came; 0 before there was one
	must     failure.Code      // what must become of it for its caller's sake
	reason   string            // … and why
	refused  failure.Code      // what it was refused with; empty when it was not
	crews    crews

	// The record that is being read.
	seq    uint64
	record bus.Record
}

// escalation is a request that waits for a decision.
type escalation struct {
	agent uint32
	call  uint32
}

// New begins before the first block of a kernel's log.
func New(kernelID string) *Auditor {
	return &Auditor{
		verifier:  logging.NewVerifier(logging.Genesis(kernelID).Point),
		holders:   authority.New(),
		agents:    make(map[uint32]*agent),
		waiting:   make(map[uint64]*escalation),
		purse:     newPurse(),
		people:    newPeople(),
		catalogue: make(catalogue),
		runs:      make(map[uint32]*run),
		ledgers:   make(map[uint32]*ledger),
		crews:     crews{present: make(map[uint32]bool), left: make(map[uint32]*agent)},
	}
}

// Point is where the auditor has come to: after the last block of the chain.
func (a *Auditor) Point() logging.Point { return a.verifier.Point() }

// Report is what it has come to so far. Its findings are shared with reports
// taken later, and are never changed.
func (a *Auditor) Report() Report {
	report := a.report
	report.Findings = slices.Clip(report.Findings)
	report.Agents = uint64(a.holders.Last())
	report.Alive, report.Open = uint64(len(a.agents)), a.open()
	return report
}

// Feed reads the next block, which must be exactly one. Where the chain is
// broken nothing that follows can be believed: that is a finding, and an error,
// a *logging.Mismatch, which every later call returns again.
func (a *Auditor) Feed(raw []byte) error {
	if a.broken != nil {
		return a.broken
	}
	a.before = a.verifier.Point()
	block, digest, err := a.verifier.Next(raw)
	if err != nil {
		a.broken = err
		a.index, a.now = a.before.LastIndex, a.before.LastClockMillis
		a.foundAt(a.before.NextSeq, bus.Record{}, Chain, "%v; what follows was not read", err)
		return err
	}
	a.report.Blocks++
	a.report.Bytes += uint64(len(raw))
	a.begin(&block)
	for records := block.Records(); records.Next(); {
		a.report.Records++
		a.read(&records.Record)
	}
	a.end()
	a.links(&block, logging.PointerTo(a.before.Position), digest)
	a.tree = a.tree.Append(digest)
	return nil
}

func (a *Auditor) begin(b *logging.Block) {
	a.index, a.now = b.Index, b.ClockMillis
	a.place, a.event, a.result, a.hand = 0, &event.Event{}, nil, nil
	a.first, a.entered, a.must, a.refused = b.FirstSeq, a.version(), nobodyKnows, ""
}

// end is what must hold between two blocks: nothing is in the middle of a tick,
// and what an approval allowed has been done.
func (a *Auditor) end() {
	for _, g := range a.touched {
		if g.tick.phase == running {
			a.record = bus.Record{Kind: bus.TickStarted, Agent: g.no, Tick: g.tick.seq}
			a.found(Tick, "the run of tick %d does not end within its event", g.tick.seq)
			g.tick.phase = failed
		}
		for i := range g.calls {
			g.calls[i].args = nil // they are the block's
			g.calls[i].approved = false
		}
		g.touched = false
	}
	a.shifts()
	a.sizes()
	a.tooEarly()
	a.admitted()
	clear(a.purse.meter)
	clear(a.purse.over)
	clear(a.touched)
	a.touched = a.touched[:0]
}

// touch lets end look at the agent.
func (a *Auditor) touch(g *agent) {
	if !g.touched {
		g.touched = true
		a.touched = append(a.touched, g)
	}
}

// read looks at one record and then believes it.
func (a *Auditor) read(r *logging.Record) {
	kind := bus.Kind(r.Kind)
	a.seq = r.Seq
	a.record = bus.Record{Kind: kind, Agent: r.Agent, Tick: r.Tick, Step: r.Step}
	if (a.place == 0) != (kind == bus.Event) {
		a.found(Form, "the event stands first in its block, and once")
	}
	a.place++
	body, known := decode(kind, r.Body)
	switch {
	case !known:
		a.found(Form, "no record has kind %d", r.Kind)
	case body == nil:
		a.found(Form, "the body of the record does not read as one of its kind")
	}
	if body == nil {
		return
	}
	a.record.Body = body
	switch {
	case a.early():
	case r.Agent == 0:
		a.judgeLog()
	default:
		a.judgeAgents()
	}
	a.holders.Take(r.Seq, &a.record)
	a.grow(r)
}

// judgeLog looks at a record that is no agent's.
func (a *Auditor) judgeLog() {
	switch body := a.record.Body.(type) {
	case *event.Recorded:
		a.begun(body.Event)
	case *event.Restored:
		a.restoredTo(body)
	case *event.Upgraded:
		a.upgradedTo(body)
	case *logging.TreeHead:
		if *body != (logging.TreeHead{Size: a.tree.Size(), Root: a.tree.Root()}) {
			a.found(Links, "the tree head is not that of the %d blocks before it", a.tree.Size())
		}
	case *estop.Order:
		a.halted()
	case *event.Outcome:
		a.refused = body.Refusal.Code
	case *event.Ordered:
		a.ordered(body)
	case *booted:
		if a.config != nil {
			a.found(Form, "the cluster's configuration is fixed by its first event, and was fixed before")
			return
		}
		a.config = &body.Config
	default:
		if a.record.Kind == bus.Duplicate {
			a.refused = repeated
		}
		if !a.principals() && a.registry() {
			a.sharedAccess()
		}
	}
}

// begun looks at the event itself.
func (a *Auditor) begun(e *event.Event) {
	a.event = e
	if want := max(a.clock, e.Wall); a.now != want {
		a.found(Clock, "the kernel's clock is at %d, and the greatest wall time so far is %d", a.now, want)
	}
	a.clock = a.now
	a.must, a.reason = a.people.judge(e, a.now)
	switch e.Kind {
	case event.ToolResult:
		a.result, _ = event.DecodeBody[event.Result](e.Body)
	case event.TaskAnswer:
		a.answered(e)
	case event.ToolDispatched:
		a.hand, _ = event.DecodeBody[event.Dispatched](e.Body)
	}
}

// judgeAgents looks at a record of an agent.
func (a *Auditor) judgeAgents() {
	if a.record.Kind == bus.AgentDefined {
		a.defined()
		return
	}
	if a.stopped {
		a.whileSuspended()
	}
	switch body := a.record.Body.(type) {
	case *tools.ActionBody:
		a.metered(body.Call, body.Usage)
	case *tools.StaleBody:
		a.metered(body.Call, body.Usage)
	case *lifecycle.Event, *runs.Event, *budgets.Changed, *budgets.Clock:
		a.purse.shift(a.record.Agent)
	}
	if a.ofRun() {
		return
	}
	if other := a.budget(); !other {
		return
	}
	g := a.agents[a.record.Agent]
	if g == nil {
		a.notAlive()
		return
	}
	a.judge(g)
}

// Kept is how much the auditor holds on to: agents that live or that somebody
// rests on, runs, calls without an answer, requests without a decision, accounts, what
// is reserved in them, registered tools, principals, roles and credentials.
func (a *Auditor) Kept() int {
	return a.holders.Kept() + len(a.waiting) + len(a.runs) + len(a.ledgers) + int(a.open()) + len(a.purse.accounts) + len(a.purse.open) + len(a.catalogue) + a.people.kept()
}

// open counts the calls without an answer.
func (a *Auditor) open() (calls uint64) {
	for _, g := range a.agents { //lint:ordered it is a sum
		calls += uint64(len(g.calls))
	}
	return calls
}

// Records is how many records were read, for whoever shows how far it is.
func (a *Auditor) Records() uint64 { return a.report.Records }

// Found is how many findings there are so far.
func (a *Auditor) Found() uint64 { return a.report.Found }
