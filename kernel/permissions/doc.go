// Package permissions decides whether an agent may do something: grants,
// their patterns, and the order in which they are asked (PE-1, PE-2).
//
// Compile turns the grants of one agent into a Set, once for each distinct
// list of grants; a Set is immutable and is kept beside the compiled programs
// as a cache. The flow that judges a request calls Set.Evaluate with the
// action, the resource and the kernel's time, and records the Verdict whatever
// it says. A Set answers DENY for everything that no grant speaks of.
//
// A pattern has no wildcard that can match in more than one way: `*` is
// exactly one segment and `**` stands last. So matching needs no backtracking,
// and whether one pattern contains another is decidable and exact.
//
// The package never reads a clock, keeps no state between calls, and knows no
// other module: what a resource is made of is the business of whoever asks.
package permissions
