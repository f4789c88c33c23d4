// Package bench loads a running cluster and measures what it does.
//
// Four benchmarks, each one function: Commands (one durable command after the
// other), Steps (durable tool steps of agents in parallel), Reads, and Tools (what
// the kernel adds to a call of each kind of adapter). Each has a warm-up that is not
// counted, runs for a time, and gives a Report, or one for each kind.
//
// Without a rate the loop is closed: so many clients, each asking again when it
// was answered. That finds the throughput; the latencies are then corrected for
// coordinated omission as HdrHistogram does, with the median as the interval at
// which a client would have asked. With a rate the loop is open and latency
// counts from when an operation was due. The report says which it was.
//
// What it never does: count an operation that failed, or change agents that it
// did not make. Agents that Commands defines stay behind: that is what it
// measures. The other two end theirs.
package bench
