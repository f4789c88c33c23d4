package lifecycle

// TableVersion of the transition table: 2 adds rows 16 and 17 to the
// specification's fifteen (LC-1).
const TableVersion = 2

// Transition is one row of the table.
type Transition struct {
	Row     uint8 // number in agent-lifecycle.md section 4; 16 and 17 are LC-1's
	From    State
	Trigger Trigger
	To      State
	Callers callerSet
}

type callerSet uint8

func by(callers ...Caller) callerSet {
	var s callerSet
	for _, c := range callers {
		s |= 1 << c
	}
	return s
}

// May reports whether c may cause the row.
func (t Transition) May(c Caller) bool { return t.Callers>>c&1 == 1 }

// Table is every transition there is (LC-1, LC-3). Row 17 stands once a state.
var Table = [...]Transition{
	{1, Defined, Spawn, Spawned, by(Kernel, Client)},
	{2, Spawned, Activate, Active, by(Kernel, Client)},
	{3, Active, Yield, Waiting, by(Kernel)},
	{3, Active, AwaitTool, Waiting, by(Kernel)},
	{4, Active, Complete, Completing, by(Kernel)},
	{5, Active, Error, Faulted, by(Kernel)},
	{6, Active, Suspend, Resumable, by(Client, Parent)},
	{7, Waiting, Resume, Active, by(Scheduler)},
	{8, Waiting, Timeout, Faulted, by(Scheduler)},
	{8, Waiting, Error, Faulted, by(Scheduler)},
	{9, Resumable, Resume, Active, by(Client, Parent, Kernel)},
	{10, Resumable, Expire, Terminated, by(Kernel, Client)},
	{11, Completing, TeardownOK, Terminated, by(Kernel)},
	{12, Faulted, Recover, Recovering, by(FailureHandler, Client)},
	{13, Faulted, Abandon, Terminated, by(FailureHandler, Client)},
	{14, Recovering, RecoverySuccess, Active, by(Kernel)},
	{15, Recovering, RecoveryExhausted, Terminated, by(Kernel)},
	{16, Completing, Error, Faulted, by(Kernel)},
	{17, Defined, Breach, Terminated, by(Kernel)},
	{17, Spawned, Breach, Terminated, by(Kernel)},
	{17, Active, Breach, Terminated, by(Kernel)},
	{17, Waiting, Breach, Terminated, by(Kernel)},
	{17, Resumable, Breach, Terminated, by(Kernel)},
	{17, Completing, Breach, Terminated, by(Kernel)},
	{17, Faulted, Breach, Terminated, by(Kernel)},
	{17, Recovering, Breach, Terminated, by(Kernel)},
}

// Decide looks the transition up. ok is false when no row allows it, or not
// to this caller: the answer is INVALID_TRANSITION (LC-2).
func Decide(from State, trigger Trigger, caller Caller) (to State, ok bool) {
	for _, t := range Table {
		if t.From == from && t.Trigger == trigger {
			return t.To, t.May(caller)
		}
	}
	return from, false
}

// KillPath lists the triggers that kill takes from a state, in order; nil
// where it is refused (LC-4).
func KillPath(from State) []Trigger { return killPaths[from] }

var killPaths = [States][]Trigger{
	Spawned:    {Activate, Error, Abandon},
	Active:     {Error, Abandon},
	Waiting:    {Error, Abandon},
	Completing: {Error, Abandon},
	Resumable:  {Expire},
	Faulted:    {Abandon},
	Recovering: {RecoveryExhausted},
}
