// Package edn writes a history the way Jepsen keeps them: history.edn, one
// operation a line, so that Knossos, Elle and everything else that reads such a
// file can judge ours.
//
// An operation is two lines with one process: its :invoke, and its :ok, :fail or,
// when nobody can say whether it has happened, :info. :index counts lines from 0,
// :time is nanoseconds since the run began, and both only grow. A process does one
// thing at a time, and nothing after an :info: where a history has it otherwise,
// the later operation is given a process of its own.
//
// :f and :value are what checkers look at. A register's are Jepsen's own: the value
// of a read is the member "value" of what was answered, nil until then and when
// there is none; that of a write is the same member of what was asked for, and that
// of a cas the pair of its "from" and "value". Every other operation has all that
// was asked for as its value. With a key, :value is [key value], the form of
// jepsen.independent. What else is known stands beside it: :id, :workload, :key,
// :event, the name of the command that was sent, :node, :raft-index, :bus-seq,
// :code, :error, and the bodies, :in and :out. A checker that wants one workload
// filters by :workload first; indices then have gaps, as they may.
//
// Faults are of the process :nemesis, each four lines of type :info in two pairs:
// :start-KIND when its injection begins and when it is there, :stop-KIND the same.
// Since :nemesis does one thing at a time too, what overlapped is moved to the
// moment when the other was done. Phases are of the process :phase, in pairs as
// well.
//
// What it never does: leave out an operation, a fault or a phase. What was seen of
// nodes and streams is no operation and is in history.jsonl only, as are the bodies
// of commands. What cannot be a keyword is a string.
package edn
