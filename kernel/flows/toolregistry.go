package flows

import (
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// RegisterTool decides a ToolRegister event: a tool that programs can call from
// here on, or another revision of one (TO-9). The revision is the busSeq of its
// record. A manifest that is registered already, to the byte, changes nothing: the
// answer has the revision that it has.
func RegisterTool(v View, cmd *event.RegisterTool, out *bus.Batch) (Done, *Refusal) {
	m := &cmd.Manifest
	if r := m.Check(v.Config.MaxManifestBytes, v.Config.MaxCallTimeoutMillis); r != nil {
		r.Field = fieldOf("manifest", r.Field)
		return Done{}, &Refusal{Refusal: *r}
	}
	old, registered := v.Tools.Registered(m.Name)
	if registered && old.Manifest.Same(m) {
		return Done{Version: old.No}, nil
	}
	kept := uint64(v.Tools.Revisions())
	if registered && old.Calls == 0 {
		kept-- // it is forgotten with this
	}
	if kept >= uint64(v.Config.MaxTools) {
		return Done{}, refuseHint(failure.LimitReached, "",
			"there are as many tools, and revisions that calls still run with, as max_tools allows, which is "+strconv.FormatUint(uint64(v.Config.MaxTools), 10),
			"deregister one with: omni tool deregister NAME")
	}
	out.Add(bus.Record{Kind: bus.ToolRegistered, Body: &tools.RegisteredBody{Manifest: m}})
	return Done{Version: v.Seq}, nil
}

// DeregisterTool decides a ToolDeregister event: new calls of the tool are
// TOOL_UNKNOWN, and running ones go on (TO-9).
func DeregisterTool(v View, cmd *event.DeregisterTool, out *bus.Batch) *Refusal {
	if refusal := v.checkRun(nil, cmd.Reason); refusal != nil {
		return refusal
	}
	if _, ok := tools.Find(cmd.Name); ok {
		return refuse(failure.InvalidArgument, "name", "is the name of a tool that is built in, which cannot be taken away: deny it with a grant")
	}
	r, ok := v.Tools.Registered(cmd.Name)
	if !ok {
		return refuseHint(failure.NotFound, "name", "no tool of this name is registered", "see what there is with: omni tool list")
	}
	out.Add(bus.Record{Kind: bus.ToolDeregistered, Body: &tools.DeregisteredBody{Name: cmd.Name, Revision: r.No, Reason: cmd.Reason}})
	return nil
}

// replaced is the failure of a call that waited, for a decision or for room in a
// budget, while its tool became another one.
func replaced() *failure.Failure {
	return &failure.Failure{Code: failure.ToolUnknown, Message: "the tool was registered anew, or deregistered, while the call waited: ask for it again"}
}

func fieldOf(parent, field string) string {
	if field == "" {
		return parent
	}
	return parent + "." + field
}
