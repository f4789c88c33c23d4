// Package lifecycle is the agent's state machine: nine states, seventeen rows,
// and who may cause each (agent-lifecycle.md; LC-1 … LC-3).
//
// Everything here is data or a pure function of it. Decide answers what a
// trigger does to a state; the flows ask it and publish the Lifecycle record;
// Row.Apply, called for that record alone, is the only code that changes a
// state (SM-INV-01). Which module may act in which state is PermitOf, also
// a table (LC-6).
//
// It never looks at another module, and nothing in it knows time.
package lifecycle
