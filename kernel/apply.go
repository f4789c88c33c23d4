package kernel

import (
	"fmt"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/invariants"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/runs"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// Apply takes one committed event in (EV-1). In this order: record it, fire
// the timers that are due, decide it, drain ticks; each cause drains its
// reactions before the next begins (EV-6).
func (k *Kernel) Apply(index, term uint64, e *event.Event) Applied {
	k.begin(index, term, e)
	k.fireTimers()
	outcome := k.decide(e)
	k.drainTicks()
	return k.seal(outcome)
}

// ApplyQuarantined records an event that operators keep from running (EV-14).
func (k *Kernel) ApplyQuarantined(index, term uint64, e *event.Event) Applied {
	k.begin(index, term, e)
	k.publish(bus.Record{Kind: bus.Quarantine, Body: execution.Empty{}}, 0)
	return k.seal(k.refuse(failure.Refusal{Code: failure.Quarantined, Rule: "operators keep this event from running"}))
}

// begin opens the event's block and records the event itself.
func (k *Kernel) begin(index, term uint64, e *event.Event) {
	if k.applying {
		panic("kernel: INV-21: Apply within Apply: one goroutine applies one event at a time")
	}
	if index <= k.state.Index {
		panic(fmt.Sprintf("kernel: event at index %d after index %d", index, k.state.Index))
	}
	k.applying = true
	k.state.Index, k.state.Term = index, term
	k.state.Clock = max(k.state.Clock, e.Wall)
	k.at = bus.At{Index: index, Now: k.state.Clock}
	k.work = 0
	k.checks.Begin()
	k.block.Begin(index, term, k.state.Log.NextSeq, k.state.Clock)
	k.recorded.Event = e
	k.publish(bus.Record{Kind: bus.Event, Body: &k.recorded}, 0)
}

// seal ends the event: its block, the chain, the position of the next one.
func (k *Kernel) seal(outcome event.Outcome) Applied {
	k.sizeUp()
	if k.state.Runs.Len() > 0 {
		k.touchRuns()
	}
	block, digest := k.block.Seal(k.state.Log.Chain)
	for i := range k.block.Touched() {
		subject, head := k.block.TouchedAt(i)
		reached(k.state, subject, logging.ChainAfter(head, digest))
	}
	segment := config.Default().SegmentBytes
	if k.state.Config != nil {
		segment = k.state.Config.SegmentBytes
	}
	k.state.Log.Advance(block, digest, segment)
	k.applying = false
	k.recorded.Event, k.body = nil, nil
	return Applied{Outcome: outcome, Block: block, Log: &k.state.Log}
}

// fireTimers fires what is due, in (deadline, id) order, within the event's
// work. Timers made meanwhile, and what the work does not reach, wait for the
// next event. None fires while the kernel is suspended (NO-2).
func (k *Kernel) fireTimers() {
	if k.state.Config == nil || k.state.Estop.Suspended() {
		return
	}
	made := k.state.Timers.Next
	for k.work < k.state.Config.WorkPerEvent {
		timer, ok := k.state.Timers.First()
		if !ok || timer.Deadline > k.state.Clock || timer.ID > made {
			return
		}
		flows.Fire(k.view(), timer, &k.out)
		k.run(0)
		k.drainCascades()
	}
}

// drainCascades records what a revocation means to the agents below, one by
// one, within the event's work; it has been in force since its first record
// (LC-10, EV-5). Calls that wait for room in a budget find it one by
// one, too, unless the kernel is suspended (NO-2).
func (k *Kernel) drainCascades() {
	for k.work < k.state.Config.WorkPerEvent && (flows.Cascade(k.view(), &k.out) || !k.state.Estop.Suspended() && flows.Admit(k.view(), &k.out)) {
		k.run(0)
	}
}

// drainTicks runs queued ticks until none is left or the work is spent (EX-2).
func (k *Kernel) drainTicks() {
	if k.state.Config == nil {
		return
	}
	k.drainCascades()
	if k.state.Estop.Suspended() { // NO-2
		return
	}
	for k.work < k.state.Config.WorkPerEvent {
		agent, ok := k.state.Running.First()
		if !ok {
			return
		}
		k.tick(agent)
		k.drainCascades()
	}
}

// sampleTicks is how rarely a tick is evaluated twice: when the next busSeq is
// a multiple of it. Every replica samples the same ticks.
const sampleTicks = 256

// tick runs the tick of one agent. Now and then it does so twice, and compares:
// an evaluator that answers by anything but its inputs would diverge (INV-15,
// INV-20).
func (k *Kernel) tick(agent uint32) {
	k.work += flows.Tick(k.view(), agent, &k.out)
	if (k.at.Seq+1)%sampleTicks == 0 {
		var again bus.Batch
		flows.Tick(k.view(), agent, &again)
		if !k.out.Equal(&again) {
			k.out.Reset()
			k.breach(bus.Record{Kind: bus.TickStarted, Agent: agent}, &invariants.Breach{
				Invariant: "INV-20", Rule: "an instruction's result depends on its inputs alone: evaluated twice, the tick differed",
			}, 0)
		}
	}
	k.run(0)
}

// decide answers the event. Whatever it refuses has changed nothing, and is
// recorded.
func (k *Kernel) decide(e *event.Event) event.Outcome {
	if k.state.Config == nil && e.Kind != event.KernelBooted {
		return k.refuse(failure.Refusal{Code: failure.NotBooted, Rule: "the cluster has no configuration yet"})
	}
	if refusal := k.authorize(e); refusal != nil {
		return k.refuse(*refusal)
	}
	if !e.Kind.IsCommand() {
		return k.decideInternal(e)
	}
	judged := k.state.Sessions.Judge(e, k.state.Clock, k.state.Config)
	switch {
	case judged.Refusal != nil:
		return k.refuse(*judged.Refusal)
	case judged.Repeat != nil:
		k.publish(bus.Record{Kind: bus.Duplicate, Body: &event.Again{Index: judged.Repeat.Index}}, 0)
		outcome := event.Outcome{Index: judged.Repeat.Index, Stored: judged.Repeat.Position}
		if first, ok := event.DecodeOutcome(judged.Repeat.Outcome); ok {
			outcome = *first
		}
		outcome.Repeated = true
		return outcome
	}
	done, refusal := k.command(e)
	if refusal != nil {
		return k.refused(done, refusal)
	}
	k.run(0)
	return k.answer(done, failure.Refusal{})
}

// authorize holds what an event asks for to who it says that it comes from, as the
// tables stand at this place of the log, whatever the door believed (AU-3).
func (k *Kernel) authorize(e *event.Event) *failure.Refusal {
	if !k.state.Principals.On() {
		return nil
	}
	if e.Kind.IsCommand() {
		body, ok := flows.ReadCommand(e)
		if !ok {
			panic(k.unknown(e, "its body does not decode"))
		}
		k.body = body
	}
	return flows.Authorize(k.state, e, k.body)
}

// command hands a client's command to its flow.
func (k *Kernel) command(e *event.Event) (flows.Done, *flows.Refusal) {
	v := k.view()
	if refusal := flows.TooEarly(v, e); refusal != nil {
		return flows.Done{}, refusal
	}
	if refusal := flows.DuringStop(v, e); refusal != nil {
		return flows.Done{}, refusal
	}
	switch e.Kind {
	case event.AgentDefine:
		return about(flows.Define(v, decoded[event.Define](k, e), &k.out))
	case event.AgentStart:
		return about(flows.Start(v, decoded[event.Start](k, e), &k.out))
	case event.AgentTrigger:
		return about(flows.Trigger(v, decoded[event.Trigger](k, e), lifecycle.Client, &k.out))
	case event.AgentKill:
		return about(flows.Kill(v, decoded[event.Kill](k, e), &k.out))
	case event.AgentSubmit:
		return about(flows.Submit(v, decoded[event.Submit](k, e), &k.out))
	case event.AgentSend:
		return about(flows.Send(v, decoded[event.Send](k, e), &k.out))
	case event.AgentReclassify:
		return about(flows.Reclassify(v, decoded[event.Reclassify](k, e), &k.out))
	case event.TokenRevoke:
		return about(flows.RevokeToken(v, decoded[event.RevokeToken](k, e), &k.out))
	case event.GrantRevoke:
		return about(flows.RevokeGrant(v, decoded[event.RevokeGrant](k, e), &k.out))
	case event.EscalationDecide:
		return about(flows.Decide(v, decoded[event.Decide](k, e), e.Principal, &k.out))
	case event.LogArchive:
		return about(flows.ArchiveLog(v, decoded[event.ArchiveLog](k, e), &k.out))
	case event.AgentFork:
		return about(flows.Fork(v, decoded[event.Fork](k, e), &k.out))
	case event.BudgetSet:
		return about(flows.SetBudget(v, decoded[event.SetBudget](k, e), &k.out))
	case event.RunPlan, event.RunStart, event.RunPause, event.RunResume, event.RunKill:
		return about(k.runCommand(e))
	case event.SharedPut:
		return flows.PutShared(v, decoded[event.PutShared](k, e), &k.out)
	case event.SharedDelete:
		return flows.DeleteShared(v, decoded[event.DeleteShared](k, e), &k.out)
	case event.ToolRegister:
		return flows.RegisterTool(v, decoded[event.RegisterTool](k, e), &k.out)
	case event.ToolDeregister:
		return flows.Done{}, flows.DeregisterTool(v, decoded[event.DeregisterTool](k, e), &k.out)
	case event.AuthBootstrap, event.PrincipalPut, event.PrincipalDelete, event.RolePut, event.RoleDelete, event.CredentialPut, event.CredentialRevoke:
		return k.authCommand(e)
	case event.OperatorOrder:
		return flows.Done{}, flows.Order(v, decoded[event.Order](k, e), e.Principal, &k.out)
	case event.TaskAnswer:
		return about(flows.AnswerTask(v, decoded[event.AnswerTask](k, e), e.Principal, &k.out))
	case event.KernelSuspend:
		return flows.Done{}, flows.SuspendKernel(v, decoded[event.SuspendKernel](k, e), e.Principal, &k.out)
	case event.KernelResume:
		return flows.Done{}, flows.ResumeKernel(v, decoded[event.ResumeKernel](k, e), e.Principal, &k.out)
	}
	panic(k.unknown(e, "no flow takes it"))
}

// runCommand hands a command about a run to its flow (RU-1, RU-2).
func (k *Kernel) runCommand(e *event.Event) (flows.Target, *flows.Refusal) {
	v := k.view()
	switch e.Kind {
	case event.RunPlan:
		return flows.PlanRun(v, decoded[event.PlanRun](k, e), &k.out)
	case event.RunStart:
		return flows.StartRun(v, decoded[event.StartRun](k, e), &k.out)
	case event.RunPause:
		return flows.PauseRun(v, decoded[event.PauseRun](k, e), &k.out)
	case event.RunResume:
		return flows.ResumeRun(v, decoded[event.ResumeRun](k, e), &k.out)
	}
	return flows.KillRun(v, decoded[event.KillRun](k, e), &k.out)
}

// authCommand hands a command about principals to its flow (AU-1).
func (k *Kernel) authCommand(e *event.Event) (flows.Done, *flows.Refusal) {
	v := k.view()
	switch e.Kind {
	case event.AuthBootstrap:
		return flows.Done{}, flows.BootstrapAuth(v, decoded[event.BootstrapAuth](k, e), e.Principal, &k.out)
	case event.PrincipalPut:
		return flows.PutPrincipal(v, decoded[event.PutPrincipal](k, e), e.Principal, &k.out)
	case event.PrincipalDelete:
		return flows.Done{}, flows.DeletePrincipal(v, decoded[event.DeletePrincipal](k, e), e.Principal, &k.out)
	case event.RolePut:
		return flows.PutRole(v, decoded[event.PutRole](k, e), e.Principal, &k.out)
	case event.RoleDelete:
		return flows.Done{}, flows.DeleteRole(v, decoded[event.DeleteRole](k, e), e.Principal, &k.out)
	case event.CredentialPut:
		return flows.Done{}, flows.PutCredential(v, decoded[event.PutCredential](k, e), e.Principal, &k.out)
	}
	return flows.Done{}, flows.RevokeCredential(v, decoded[event.RevokeCredential](k, e), e.Principal, &k.out)
}

// about is what a command came to that concerns one agent and no more.
func about(t flows.Target, r *flows.Refusal) (flows.Done, *flows.Refusal) {
	return flows.Done{Target: t}, r
}

// decideInternal answers what nodes propose by themselves.
func (k *Kernel) decideInternal(e *event.Event) event.Outcome {
	var refusal *flows.Refusal
	switch e.Kind {
	case event.KernelBooted:
		refusal = k.boot(decoded[config.Config](k, e))
	case event.ClusterRestored:
		refusal = flows.Restored(k.view(), decoded[event.Restored](k, e), &k.out)
	case event.KernelUpgraded:
		refusal = k.upgrade(e)
	case event.LeaderStarted, event.Pulse:
		// Their record is all there is to them: a term's first commit, and time.
	case event.Checkpoint:
		// Each node compares the chain values with its own (LO-3).
		flows.TreeHead(k.view(), &k.out)
	case event.ToolDispatched:
		refusal = flows.Dispatch(k.view(), decoded[event.Dispatched](k, e), &k.out)
	case event.ToolResult:
		refusal = flows.Result(k.view(), decoded[event.Result](k, e), &k.out)
	default:
		panic(k.unknown(e, "no flow takes it"))
	}
	if refusal != nil {
		return k.refused(flows.Done{}, refusal)
	}
	k.run(0)
	return event.Outcome{Index: k.at.Index, Seq: k.state.Log.NextSeq}
}

// upgrade takes the cluster to its next kernel version (EV-9).
func (k *Kernel) upgrade(e *event.Event) *flows.Refusal {
	if to := event.VersionIn(e); to > Version {
		panic(k.unknown(e, "it is of a later version"))
	}
	return flows.Upgraded(k.view(), decoded[event.Upgraded](k, e), &k.out)
}

// boot fixes the cluster's limits for ever (EV-8, INV-12).
func (k *Kernel) boot(c *config.Config) *flows.Refusal {
	if k.state.Config != nil {
		return &flows.Refusal{Refusal: failure.Refusal{Code: failure.AlreadyBooted, Rule: "the cluster's configuration is fixed by its first event"}}
	}
	if r := c.Check(); r != nil {
		return &flows.Refusal{Refusal: *r}
	}
	k.out.Add(bus.Record{Kind: bus.KernelBooted, Body: &booted{*c}})
	return nil
}

func (k *Kernel) refused(d flows.Done, r *flows.Refusal) event.Outcome {
	if k.out.Len() > 0 {
		panic("kernel: a flow refused and decided records too")
	}
	if r.Record != nil {
		k.publish(*r.Record, 0)
	}
	return k.answer(d, r.Refusal)
}

func (k *Kernel) refuse(r failure.Refusal) event.Outcome { return k.answer(flows.Done{}, r) }

// answer records the outcome, for the log and for the command's session.
func (k *Kernel) answer(d flows.Done, r failure.Refusal) event.Outcome {
	outcome := event.Outcome{Refusal: r, Index: k.at.Index, Seq: k.state.Log.NextSeq, Version: d.Version}
	if row := k.state.Agents.Get(d.No); row != nil {
		outcome.Agent, outcome.State = row.Identity.ID, uint8(row.Lifecycle.State)
	}
	k.outcome = outcome
	k.publish(bus.Record{Kind: bus.Outcome, Body: &k.outcome}, 0)
	return outcome
}

// run publishes what a flow decided, all of it, and then drains the reactions,
// first in first out (EV-4, EV-5). cause is the place of the causing record.
func (k *Kernel) run(cause uint32) {
	k.publishBatch(cause)
	for next := 0; next < len(k.reactions); next++ {
		made := k.reactions[next]
		for _, react := range routes[made.record.Kind].react {
			react(k.view(), made.record, &k.out)
			k.publishBatch(made.place)
		}
	}
	clear(k.reactions)
	k.reactions = k.reactions[:0]
}

func (k *Kernel) publishBatch(cause uint32) {
	records := k.out.Records()
	for i := range records {
		if broken := k.checks.Before(k.state, k.at.Now, &records[i]); broken != nil {
			k.breach(records[i], broken, cause)
			return
		}
		place := k.publish(records[i], cause)
		if broken := k.checks.After(k.state, &records[i]); broken != nil {
			panic(broken.Stops(uint16(records[i].Kind), records[i].Agent))
		}
		if len(routes[records[i].Kind].react) > 0 {
			k.reactions = append(k.reactions, pending{records[i], place})
		}
	}
	k.out.Reset()
}

// breach drops a record that would break an invariant, with whatever its flow
// decided after it, and ends the agent on whose account it is (FA-4).
func (k *Kernel) breach(r bus.Record, broken *invariants.Breach, cause uint32) {
	if k.breaking || r.Agent == 0 {
		panic(broken.Stops(uint16(r.Kind), r.Agent))
	}
	k.breaking = true
	k.out.Reset()
	flows.Breach(k.view(), r.Agent, broken.Invariant, broken.Rule, r.Kind, &k.out)
	k.publishBatch(cause)
	k.breaking = false
}

// publish gives the record its busSeq, writes it to the block, and lets its
// owner apply it at once: log first (EV-4, INV-01). It returns the record's
// place in the block.
func (k *Kernel) publish(r bus.Record, cause uint32) uint32 {
	//lint:readonly the table is large, and nothing here writes to it
	route := &routes[r.Kind]
	if route.name == "" {
		panic("kernel: a record of no known kind")
	}
	place := k.block.Count()
	before := k.block.Len()
	k.at.Seq = k.block.Open(logging.Header{Kind: uint16(r.Kind), Agent: r.Agent, Tick: r.Tick, Step: r.Step, Cause: cause})
	if k.at.Seq != k.state.Log.NextSeq+uint64(place) {
		panic("kernel: INV-16: busSeq is dense, and rises by one a record")
	}
	k.block.Buf = r.Body.AppendTo(k.block.Buf)
	k.block.Close()
	size := k.block.Len() - before
	k.work += 1 + uint64(size)/64
	if route.apply != nil {
		route.apply(k.state, k.at, r)
	}
	k.touch(r)
	if r.Agent != 0 && k.state.Config.Version >= 2 {
		k.state.Agents.Edit(r.Agent).Logged.Count(size)
	}
	return place
}

// touch links the agent's blocks: each points to the one before it.
func (k *Kernel) touch(r bus.Record) {
	if r.Kind == bus.CallRequested {
		k.requested = append(k.requested, tools.Key{Agent: r.Agent, Tick: r.Tick, Call: r.Body.(*tools.RequestedBody).Call})
	}
	if r.Agent == 0 {
		return
	}
	here := logging.PointerTo(k.state.Log.Position)
	if row := k.state.Agents.Get(r.Agent); row.LastBlock != here {
		k.block.Touch(r.Agent, row.LastBlock, row.Head)
		k.state.Agents.Edit(r.Agent).LastBlock = here
	}
}

// touchRuns links the blocks of the runs that the touched agents work for (RU-4).
func (k *Kernel) touchRuns() {
	for i := range k.block.Touched() {
		agent, _ := k.block.TouchedAt(i)
		if run := k.state.Agents.Get(agent).Run; run != 0 {
			ledger := k.state.Runs.Ledger(run)
			k.block.Touch(logging.RunSubject(run), ledger.LastBlock, ledger.Head)
		}
	}
}

// reached notes a subject's own chain value after the block in hand; a run's row
// has the pointer to the block from here, too.
func reached(s *state.State, subject uint32, head [logging.HashBytes]byte) {
	if run, ok := logging.RunOf(subject); ok {
		s.Runs.Reached(runs.Ledger{Agent: run, LastBlock: logging.PointerTo(s.Log.Position), Head: head})
		return
	}
	s.Agents.Edit(subject).Head = head
}

func (k *Kernel) view() flows.View {
	return flows.View{State: k.state, Compiled: k.compiled, Seq: k.at.Seq + 1}
}

func (k *Kernel) unknown(e *event.Event, why string) string {
	return fmt.Sprintf("kernel: event kind %d at index %d cannot be applied by version %d: %s", e.Kind, k.at.Index, Version, why)
}

// decoded reads an event's body, or stops the node (EV-2).
func decoded[T any](k *Kernel, e *event.Event) *T {
	if cmd, ok := k.body.(*T); ok { // it was read to be authorized
		return cmd
	}
	cmd, ok := event.DecodeBody[T](e.Body)
	if !ok {
		panic(k.unknown(e, "its body does not decode"))
	}
	return cmd
}
