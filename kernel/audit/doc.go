// Package audit keeps the newest entries of the audit log: each tells of an
// invariant that was about to be broken, and of whose account it was (FA-4).
// All entries are records of the execution log, which keeps them as long as it
// is kept; what is here is bounded.
package audit
