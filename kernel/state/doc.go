// Package state puts the modules' tables together: one row per agent in one
// copy-on-write vector, with one field per module, and the tables of what is
// ordered by something else (mechanics: "Tables").
//
// Nothing here decides anything. The kernel's routing table hands each record
// to the one module that owns its kind, and that module's apply writes its own
// field; everybody else only reads.
package state
