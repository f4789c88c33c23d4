package runs

// TableVersion of the table below.
const TableVersion = 1

// Transition is one edge.
type Transition struct {
	From    State
	Trigger Trigger
	To      State
}

// Table is every edge of agent-run.md section 2.
var Table = [...]Transition{
	{Planning, Ready, Planned},
	{Planning, Fail, Failed},
	{Planned, Start, Applying},
	{Planned, Pause, Paused},
	{Applying, Complete, Completed},
	{Applying, Fail, Failed},
	{Applying, Pause, Paused},
	{Applying, Kill, Killed},
	{Paused, Resume, Applying},
	{Paused, Kill, Killed},
}

// Decide looks an edge up. ok is false when there is none: the request is
// refused with INVALID_RUN_TRANSITION, and changes nothing.
func Decide(from State, trigger Trigger) (to State, ok bool) {
	for _, t := range Table {
		if t.From == from && t.Trigger == trigger {
			return t.To, true
		}
	}
	return from, false
}

// Path lists the triggers that a request takes from a state, one edge after the
// other in one event; nil where it is refused. What the table has no edge for is
// a composite (RU-1): a failure in PLANNED or PAUSED passes through APPLYING, a
// kill from PLANNED through PAUSED, and a kill from PLANNING is a failure.
func Path(from State, trigger Trigger) []Trigger {
	if _, ok := Decide(from, trigger); ok {
		return []Trigger{trigger}
	}
	for _, c := range composites {
		if c.from == from && c.trigger == trigger {
			return c.path
		}
	}
	return nil
}

var composites = [...]struct {
	from    State
	trigger Trigger
	path    []Trigger
}{
	{Planned, Fail, []Trigger{Start, Fail}},
	{Paused, Fail, []Trigger{Resume, Fail}},
	{Planning, Kill, []Trigger{Fail}},
	{Planned, Kill, []Trigger{Pause, Kill}},
}
