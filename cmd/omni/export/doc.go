// Package export copies what people want to query out of the execution log into
// a PostgreSQL database: agents, runs and their transitions (docs/export.md).
//
// It is a reader of the log like any other: it watches through the API of
// whatever node answers, and no node knows of it. Nothing waits for it, neither
// a command nor the log; when the database is down or slow, it falls behind, and
// says by how much.
//
// Whoever runs it calls Run with a client of the cluster and an Options. The
// position in the log is in the database, written in the transaction that writes
// the rows: whatever ends it, wherever, it goes on with the record after the last
// one that it wrote. Rows have (cluster, busSeq) for their key, so what is offered
// twice is there once.
//
// Which records become rows of which table is a table itself, in rules.go; the
// database's tables are in migrations, in order of their numbers. The log is the
// source: nothing is ever read back.
package export
