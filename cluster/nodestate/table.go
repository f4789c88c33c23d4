package nodestate

// row of the machine: in any of the states From, Trigger leads to To if Guard
// says nothing against it, and Action is done with it.
type row struct {
	From    []State
	Trigger Trigger
	Guard   guard
	To      State
	Action  action
}

// table is the whole machine. Where several rows fit, the first one counts whose
// guard has nothing against it. Beside the rows of node-lifecycle.md there are
// those of NO-1 (fatal, and shutdown in every state but Terminated) and the one
// of NO-3, by which a node that was suspended comes back suspended.
var table = []row{
	{[]State{Created}, Start, configValid, Starting, nothing},
	{[]State{Starting}, InitOK, healthyAndHeld, Suspended, clearAttempts},
	{[]State{Starting}, InitOK, healthyAndFree, Running, clearAttempts},
	{[]State{Starting}, InitFail, attemptsLeft, Backoff, countAttempt},
	{[]State{Backoff}, Retry, attemptsLeft, Starting, nothing},
	{[]State{Backoff}, Exhausted, noAttemptsLeft, Crashed, nothing},
	{[]State{Running}, ComponentErrors, streakReached, Degraded, nothing},
	{[]State{Degraded}, Recovered, windowClear, Running, nothing},
	{[]State{Running, Degraded}, Pause, always, Suspended, hold},
	{[]State{Running, Degraded}, Estop, always, Suspended, hold},
	{[]State{Suspended}, Resume, requiredHealthy, Running, release},
	{but(Terminated), Shutdown, always, Terminating, nothing},
	{[]State{Terminating}, Done, allStopped, Terminated, nothing},
	{but(Terminated), Fatal, always, Crashed, nothing},
}

// but are all states except one.
func but(none State) []State {
	var all []State
	for _, s := range States() {
		if s != none {
			all = append(all, s)
		}
	}
	return all
}

// action is what a transition changes beside the state and its cause.
type action uint8

const (
	nothing       action = iota
	clearAttempts        // the starts that failed in a row are forgotten
	countAttempt         // one more start has failed: the next one is set a time
	hold                 // the node stays suspended until it is resumed, over restarts too
	release              // it is suspended no more
)
