// Package history is what a fault test knows of a run: what was asked of the
// cluster and what it answered, which faults there were, and what was seen of the
// nodes meanwhile.
//
// A run has one Recorder. Workloads Call it before they send an operation and
// settle it with what they were told; nemeses record Faults; watchers record
// Sights of nodes and Records of streams; the counting service records its Hits.
// Every line goes to a file at once, as JSON, so that a run which is interrupted
// can still be judged. Load reads such a file into a History, for the checkers and
// the report.
//
// Times are nanoseconds of the monotonic clock of the one machine on which
// everything ran, since the recorder began: two of them may be compared.
//
// What it never does: decide what an answer means. Who settles an operation says
// whether it has happened, has not, or may have.
package history
