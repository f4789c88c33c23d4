// Package principals keeps who may ask the cluster for what: principals, the
// roles that they have, and the credentials that they come with (AU-1).
//
// # Who calls it, in which order
//
// The kernel asks Admit whether the credential in an event is in force, and May
// whether its principal may do what the event asks for, both in log order and
// before anything else is decided; whoever stands at the door asks the same of the
// state that it answers from. Flows decide who is added and taken away, and hold
// the rules of Check… before they do.
//
// A role is a list of grants in the pattern language of agents' grants, judged by
// the same engine: DENY goes before ALLOW, over all roles of a principal together,
// and what no role speaks of is denied. A role may also speak of every action at
// once, which no grant of an agent may.
//
// # What it never does
//
// No secret comes here: a token's is known by its SHA-256 alone, which the door
// compares; the kernel is told only which credential it was. Before Bootstrapped
// nobody is judged. The compiled form of a role stands beside its row and is made
// anew with it: it is no state, and no snapshot has it.
package principals
