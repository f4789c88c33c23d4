// Package page draws a run: one HTML file that needs nothing else, neither a
// network nor a script. Render is given a Page and writes it.
//
// At the top stand the verdict in words and what each checker found, then one
// picture over the time of the run: phases, faults, what the nodes did and who
// led, operations of each workload by outcome, operations a second, and latency.
// Findings point to their places in it. Below are tables of the operations, the
// refusals and the faults, and where the nodes' own output is.
//
// Operations are counted in at most 600 buckets of time before anything is drawn,
// so that the size of the page does not depend on how many there were. Whatever a
// node, a client or a checker said is text on it and never markup; a script, which
// only reads out numbers and magnifies, is the one of this package or none at all,
// by a policy that the page carries.
//
// What it never does: judge, or leave out a finding. What it shortens it says.
package page
