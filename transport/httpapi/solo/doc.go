// Package solo is a group of nodes without consensus, for the tests of what
// stands in front of a node: every replica is a real kernel with a real
// execution log on disk, and one lock takes Raft's place. So tests choose who
// leads, which replica lags, and what time it is, and still see real outcomes,
// real sessions and real records.
//
// It is imported by tests only.
package solo
