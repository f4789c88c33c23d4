// Package backtest judges what was recorded under other grants: which requests
// would have been answered otherwise, and why (PE-7). It runs nothing.
//
// Whoever has a log from its beginning makes a Test with New, says in the Case
// which grants stand in whose place, feeds it every block in order, and takes
// its Report. Each ALLOW, DENY and ESCALATED of an agent whose authority the
// grants concern is put, at the recorded moment, to the lists of everybody above
// it as the log has them, with the given one in its place. Authority is the
// strictest of all levels, so what rests on a replaced list is judged too.
//
// A request that would have been answered otherwise makes another run of it:
// what its tick did after that is evidence of nothing, and is counted, not
// judged. The agent's later ticks are judged as they were recorded.
//
// Memory grows with the agents that live and the calls that are open; the list
// of changes is bounded by the Case.
//
// What it never does: verify the log (the reader of an export does), evaluate a
// program, or call anything.
package backtest
