package api

// Levels of a read (CL-4), as the parameter "consistency" spells them.
const (
	Linearizable = "linearizable" // as of some moment after the call began; the default
	SessionLevel = "session"      // at least min_index: read your writes
	Stale        = "stale"        // at once; max_lag_ms bounds it
)

// Levels lists them.
var Levels = [...]string{Linearizable, SessionLevel, Stale}
