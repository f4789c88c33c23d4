// Package tools runs external tools on the node that leads (TO-2, TO-6).
//
// A tool is built in, an Adapter with a Manifest of its own, or registered: then its
// manifest is in the kernel's state, and a Kind makes the adapter of each revision and
// is asked at the door what is wrong with a manifest (TO-9). cmd/omni puts both into
// one Registry, and hands that to the node's tool runner. The runner takes an
// authorised call from the kernel's outbox, makes a Request of it, calls Registry.Run,
// and proposes the Result as the next event. Nothing here proposes, or decides whether
// a call is allowed: the gate has judged it before, and the log has it.
//
// Run stands between the runner and the adapter. It checks arguments and results
// against the JSON Schemas (package schema), bounds time, size and the number of calls
// under way, tries again what its manifest lets be tried again (TO-10), asks the
// revision's circuit breaker, and turns a panic into a result. So every call ends in
// exactly one Result, and every way to fail has a code of its own. Calls that nobody on
// the node makes, which are lent to workers or answered by a person, pass the same
// checks by Admit, Judge and CheckAnswer.
//
// Messages in results enter the log: they are our own sentences, never a library's, and
// never hold a secret (EV-13, TO-7).
package tools
