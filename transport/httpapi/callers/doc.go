// Package callers bounds what one caller may take of a node: how many requests
// a second, and how many of the places that there are for everybody.
//
// A Rates holds a token bucket for each caller that was heard of lately, a
// fixed number of them: whoever has not asked for the longest time makes room,
// so that a flood of addresses costs the same memory as no flood. A Places
// counts who holds places now, and knows of nobody else.
//
// Package httpapi asks them before it does anything for a request. They decide,
// count and say so in the node's log, a line now and then however many requests
// there are; what is answered is the caller's business. Neither reads a
// request: a caller is a name.
package callers
