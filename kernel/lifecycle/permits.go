package lifecycle

// Module that asks before it acts (LC-6).
type Module uint8

// The four modules of agent-lifecycle.md section 7.
const (
	TickEngine Module = iota
	MemoryLayer
	ToolGate
	DelegationProtocol
)

// Permit says what a module may do in a state; the zero value is DENIED.
type Permit uint8

// The permits of agent-lifecycle.md section 7.
const (
	Denied Permit = iota
	Allowed
	ReadOnly
	CheckpointRead
	SnapshotRead
	TeardownOnly
	ReadAndFlush
	ReplayOnly
	RestoreOnly
	RevocationOnly
)

// permits is the table of agent-lifecycle.md section 7: anything not listed is
// denied.
var permits = [States][4]Permit{
	Spawned:    {MemoryLayer: ReadOnly},
	Active:     {Allowed, Allowed, Allowed, Allowed},
	Waiting:    {MemoryLayer: CheckpointRead},
	Resumable:  {MemoryLayer: SnapshotRead},
	Completing: {TickEngine: TeardownOnly, MemoryLayer: ReadAndFlush},
	Faulted:    {DelegationProtocol: RevocationOnly},
	Recovering: {TickEngine: ReplayOnly, MemoryLayer: RestoreOnly, ToolGate: ReplayOnly},
}

// PermitOf tells what module m may do for an agent in state s.
func PermitOf(s State, m Module) Permit {
	if s >= States || m > DelegationProtocol {
		return Denied
	}
	return permits[s][m]
}
