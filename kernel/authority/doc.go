// Package authority rebuilds, from the records of the execution log alone, who
// held which grants, on whom each agent rested, and whose token was in force: a
// second opinion about what the kernel's own tables said at that moment (DE-1,
// LC-10, PE-2).
//
// Whoever reads a log in order makes Tables with New, gives them every record
// whose kind Decode knows with Take, and may ask between any two records:
// Agent finds an agent, InForce tells whether its token holds, Judge puts a
// request to its grants and to those of everybody above it. Instead lets other
// grants stand in the place of some agents' own, for what-ifs.
//
// Memory grows with the agents that live, those above them, and the lists of
// grants that somebody has: an agent that is TERMINATED is forgotten as soon as
// nobody that lives rests on it. Its number is not: numbers are given densely,
// so Tables know of any number whether there ever was such an agent.
//
// What it never does: decide, publish, or look at the kernel's state. It shares
// no code with the flows and the appliers but the bodies of records and the
// evaluation of one list of grants. What a record says that cannot be, it takes
// in as far as it makes sense: judging records is the caller's business.
package authority
