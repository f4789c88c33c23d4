package flows

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/estop"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// duringStop says of a client's command what becomes of it while the kernel is
// suspended (NO-2).
type duringStop uint8

const (
	refusedThen duringStop = iota // it starts or advances work, or changes what work will find
	takenThen                     // it ends, limits or puts away
	dependsThen                   // on its body: mayDuringStop
)

// duringStops is the table, by kind. A kind that nobody thought of is refused: an
// operator who has stopped everything is not surprised by something that runs.
var duringStops = [...]duringStop{
	event.AgentKill:        takenThen,
	event.TokenRevoke:      takenThen,
	event.GrantRevoke:      takenThen,
	event.LogArchive:       takenThen,
	event.RunPause:         takenThen,
	event.RunKill:          takenThen,
	event.ToolDeregister:   takenThen,
	event.TaskAnswer:       takenThen, // as results of what is under way are
	event.KernelSuspend:    takenThen, // and refused by its own rule
	event.KernelResume:     takenThen,
	event.OperatorOrder:    takenThen, // what operators do about nodes, they do above all then
	event.AuthBootstrap:    takenThen, // who may do what is nobody's work
	event.PrincipalPut:     takenThen,
	event.PrincipalDelete:  takenThen,
	event.RolePut:          takenThen,
	event.RoleDelete:       takenThen,
	event.CredentialPut:    takenThen,
	event.CredentialRevoke: takenThen,
	event.AgentTrigger:     dependsThen, // suspend, expire and abandon end or halt; spawn, activate, resume and recover begin
	event.EscalationDecide: dependsThen, // to deny is to end it; an approved call would enter the outbox
}

// DuringStop refuses what a suspended kernel does not take. It is asked about
// every command of a client; what nodes propose has rules of its own.
func DuringStop(v View, e *event.Event) *Refusal {
	if !v.Estop.Suspended() {
		return nil
	}
	may := refusedThen
	if int(e.Kind) < len(duringStops) {
		may = duringStops[e.Kind]
	}
	if may == takenThen || may == dependsThen && mayDuringStop(e) {
		return nil
	}
	return suspended("the kernel is suspended: nothing that starts or advances work is taken")
}

func suspended(rule string) *Refusal {
	return refuseHint(failure.KernelSuspended, "", rule, "see why with: omni cluster status; when it may go on: omni cluster resume")
}

// mayDuringStop looks into the body of a command that may stop something or may
// start something.
func mayDuringStop(e *event.Event) bool {
	switch e.Kind {
	case event.AgentTrigger:
		if cmd, ok := event.DecodeBody[event.Trigger](e.Body); ok {
			trigger, _ := lifecycle.ParseTrigger(cmd.Trigger)
			return trigger == lifecycle.Suspend || trigger == lifecycle.Expire || trigger == lifecycle.Abandon
		}
	case event.EscalationDecide:
		if cmd, ok := event.DecodeBody[event.Decide](e.Body); ok {
			return !cmd.Approve
		}
	}
	return false
}

// SuspendKernel decides a KernelSuspend event: the emergency stop of the whole
// cluster, which holds until KernelResume (NO-2).
func SuspendKernel(v View, cmd *event.SuspendKernel, principal string, out *bus.Batch) *Refusal {
	switch {
	case v.Estop.Suspended():
		return suspended("the kernel is suspended already")
	case cmd.Reason == "":
		return refuse(failure.InvalidArgument, "reason", "must say why everything is stopped")
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return refusal
	}
	out.Add(bus.Record{Kind: bus.KernelSuspended, Body: &estop.Order{By: principal, Reason: cmd.Reason}})
	return nil
}

// ResumeKernel decides a KernelResume event. Ticks that waited run from this
// event on; deadlines that passed ring from the next one on.
func ResumeKernel(v View, cmd *event.ResumeKernel, principal string, out *bus.Batch) *Refusal {
	if !v.Estop.Suspended() {
		return refuse(failure.InvalidState, "", "the kernel is not suspended")
	}
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return refusal
	}
	out.Add(bus.Record{Kind: bus.KernelResumed, Body: &estop.Order{By: principal, Reason: cmd.Reason}})
	return nil
}
