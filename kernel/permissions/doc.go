// Package permissions decides whether an agent may do something: grants,
// their patterns, and the order in which they are asked (PE-1, PE-2). It also
// keeps the requests that wait for somebody's word (PE-3).
//
// # Who calls it, in which order
//
// Compile turns the grants of one agent into a Set, once for each distinct
// list of grants; a Set is immutable and is kept beside the compiled programs
// as a cache. The flow that judges a request calls Set.Evaluate with the
// action, the resource and the kernel's time, once for the agent and once for
// each ancestor with the resource read Upwards, merges the answers with
// Strictest, and records the Verdict whatever it says. A Set answers DENY for
// everything that no grant speaks of.
//
// What hands out authority (DE-1) asks the parent's Set whether the child's
// Widens it, and Strict whether the parent keeps something. Revoke makes the
// list in which one ALLOW has ended. Explain is Evaluate for people.
//
// Tables are the queue of PE-3. A request enters with Escalated, is shown to the
// parent that decides with EscalationOffered, and leaves with EscalationDecided,
// whatever ended it. Next is what a parent that has come back to its wait is
// resumed with. How many may be open is for the flow to bound, by Len.
//
// # Why patterns are so plain
//
// A pattern has no wildcard that can match in more than one way: `*` is
// exactly one segment and `**` stands last. So matching needs no backtracking,
// and whether one pattern contains another is decidable and exact.
//
// # What it never does
//
// The package never reads a clock and knows no other module: what a resource is
// made of is the business of whoever asks. The one exception are the words with
// which memory's resources begin, since they mean another thing one level up.
// Nothing here decides an escalation, sets its timer, or wakes anybody.
package permissions
