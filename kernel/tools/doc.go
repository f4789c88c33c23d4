// Package tools knows which tools there are and keeps the outbox: the
// authorised external calls that have no result yet (TO-1, TO-2).
//
// Some tools are built in. Others are registered, with a manifest, while the
// cluster runs (TO-9): each registration is a revision, and a call keeps the one
// that it was requested with until it ends.
//
// A tool call leaves a tick as a request. The gate flow derives the resource
// from the arguments as the manifest says, asks permissions, and either
// answers at once (kernel tools, refusals), waits for somebody's decision, or puts
// the call into the outbox.
// The leader's runner, outside the kernel, reads the outbox and hands results
// in as events. Nothing in this package calls anything.
package tools
