// Package tools runs external tools on the node that leads (TO-2, TO-6).
//
// A tool is an Adapter: a Manifest that says what it takes and gives, and a
// Call. cmd/omni makes the adapters, puts them into one Registry, and hands
// that to the node's tool runner. The runner takes an authorised call from the
// kernel's outbox, makes a Request of it, calls Registry.Run, and proposes the
// Result as the next event. Nothing here proposes, retries or decides whether
// a call is allowed: the gate has judged it before, and the log has it.
//
// Run stands between the runner and the adapter. It checks arguments and
// results against the manifest's JSON Schema, bounds time, size and the number
// of calls that are under way, and turns a panic into a result. So every call
// ends in exactly one Result, and every way to fail has a code of its own.
//
// Messages in results enter the log: they are our own sentences, never a
// library's, and never hold a secret (EV-13, TO-7).
package tools
