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
// :f and :value are what checkers look at. The value of an operation is what was
// asked for, and of one whose name begins with "read" what was answered. It is the
// body as EDN; a body that is an object with one member is that member, and one
// that has exactly old and new is the pair [old new], as compare-and-set has it in
// Jepsen. With a key the value is [key value], the form of jepsen.independent. The
// rest of what is known stands beside it: :id, :workload, :key, :node,
// :raft-index, :bus-seq, :code, :error, and :in or :out, the body that is not the
// value.
//
// Faults are of the process :nemesis, each four lines of type :info in two pairs:
// :start-KIND when its injection begins and when it is there, :stop-KIND the same.
// Since :nemesis does one thing at a time too, what overlapped is moved to the
// moment when the other was done. Phases are of the process :phase, in pairs as
// well.
//
// What it never does: leave something out. What cannot be a keyword is a string.
package edn
