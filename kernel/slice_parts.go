package kernel

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/delegation"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/state"
)

// What the routing table's column part names: of appliers that write more than
// their agent's own, the agent's own.

func (x *Slice) edit() *state.Row { return x.state.Agents.Edit(x.agent) }

// gains notes what the block says of bodies: the records after it name those
// that the agent uses.
func gains(x *Slice, _ bus.At, r bus.Record) {
	x.gained = append(x.gained, r.Body.(*interning.Gained).Entries...)
}

// losses drops the bodies that the row names no more. A slice counts no users:
// there is but one.
func losses(x *Slice, _ bus.At, r bus.Record) {
	for _, no := range r.Body.(*interning.Lost).Numbers {
		if x.state.Interned.Get(no) != nil && !uses(x.Row(), no) {
			x.state.Interned.ApplyLost(&interning.Lost{Numbers: []uint32{no}})
		}
	}
}

// uses reports whether an agent's row names a body.
func uses(row *state.Row, no uint32) bool {
	own := row.Identity.Bodies()
	return slices.Contains(own[:], no) || row.Permissions.Grants == no ||
		row.Execution.Current != nil && row.Execution.Current.Program == no ||
		slices.ContainsFunc(row.Execution.Queue, func(q execution.Queued) bool { return q.Program == no })
}

func defined(x *Slice, at bus.At, r bus.Record) {
	no, row := x.state.Agents.Append()
	x.state.Identity.Apply(&row.Identity, no, at, r.Body.(*identity.Defined))
	x.touch(row)
}

func ownStep(x *Slice, at bus.At, r bus.Record) {
	x.edit().Lifecycle.Apply(at, r.Body.(*lifecycle.Event))
}

func ownToken(x *Slice, at bus.At, r bus.Record) {
	x.edit().Delegation.ApplyIssued(at, r.Body.(*delegation.TokenIssued))
}

func ownRevocation(x *Slice, _ bus.At, r bus.Record) {
	x.edit().Delegation.ApplyRevoked(r.Body.(*delegation.TokenRevoked))
}

func ownVoid(x *Slice, at bus.At, r bus.Record) {
	x.edit().Delegation.ApplyVoided(at, r.Body.(*delegation.ChildrenVoided))
}

func ownCancel(x *Slice, _ bus.At, r bus.Record) {
	x.state.Delegation.ApplyEnding(x.agent, r.Body.(*delegation.RequestCancelled))
}

// ownMemory leaves out shared memory, and what a child reads of its parent's.
func ownMemory(x *Slice, at bus.At, r bus.Record) {
	access := r.Body.(*memory.Access)
	if access.Owner == x.agent {
		x.state.Memory.ApplyAccess(&x.edit().Memory, r.Agent, r.Tick, at, access)
	}
}

// What the routing table's column names names: the bodies that a record says
// its agent uses from then on.

func namesOfDefined(b bus.Body, use func(uint32)) {
	for _, no := range b.(*identity.Defined).Bodies() {
		use(no)
	}
}

func namesOfInstruction(b bus.Body, use func(uint32)) { use(b.(*execution.InstructionBody).Program) }

func namesOfForked(b bus.Body, use func(uint32)) {
	if t := b.(*execution.ForkedBody).Tick; t != nil {
		use(t.Program)
	}
}

func namesOfRevoked(b bus.Body, use func(uint32)) { use(b.(*permissions.Revoked).Grants) }

// Elsewhere lists pointers to the blocks, before this one, that hold the bodies
// which records in the block name that are about one of those agents: what their
// Slices will ask for. The same pointer may come more than once.
func Elsewhere(b *logging.Block, of func(agent uint32) bool) (pointers []uint64) {
	var gained []interning.GainedEntry
	for records := b.Records(); records.Next(); {
		r := &records.Record
		if r.Kind > uint16(bus.Last) {
			continue
		}
		//lint:readonly the table is large, and nothing here writes to it
		route := &routes[r.Kind]
		if route.names == nil && bus.Kind(r.Kind) != bus.Interned || route.names != nil && !of(r.Agent) {
			continue
		}
		body, ok := route.decode(r.Body)
		if !ok {
			continue
		}
		if g, ok := body.(*interning.Gained); ok {
			gained = append(gained, g.Entries...)
			continue
		}
		route.names(body, func(no uint32) {
			i := slices.IndexFunc(gained, func(e interning.GainedEntry) bool { return e.No == no })
			if i >= 0 && !gained[i].New {
				pointers = append(pointers, gained[i].Block)
			}
		})
	}
	return pointers
}

// BodyIn finds the body of that number in the block that brought it into the
// log; nil when it is not there.
func BodyIn(b *logging.Block, no uint32) []byte {
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.Interned {
			continue
		}
		gained, ok := interning.DecodeGained(records.Record.Body)
		if !ok {
			return nil
		}
		for _, e := range gained.Entries {
			if e.No == no && e.New {
				return e.Body
			}
		}
	}
	return nil
}

// ConfigIn finds the configuration in the log's first block; nil when it is not
// there, or is none that a kernel would have taken.
func ConfigIn(b *logging.Block) *config.Config {
	for records := b.Records(); records.Next(); {
		if bus.Kind(records.Record.Kind) != bus.KernelBooted {
			continue
		}
		if c, ok := decodeConfig(records.Record.Body); ok && c.Check() == nil {
			return &c.Config
		}
	}
	return nil
}
