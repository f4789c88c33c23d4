// Package nodejournal keeps what a node remembers of itself over restarts
// (NO-3): a journal of entries, and a snapshot of where it stood.
//
//	DIR/node-journal.jsonl     one entry a line, oldest first, each with a checksum of its own
//	DIR/node-journal.1.jsonl   the lines before those, once the journal has grown to its bound
//	DIR/node-state.json        where the node stood at one entry; what came later is in the journal
//
// The snapshot is a file of its own beside node.json, which says whose the
// directory is: that one is written once, before anything else, and a node whose
// node.json does not read is refused. What is written again with every change
// must not be able to do that.
//
// A line is JSON that ends with "sum":"XXXXXXXX", the CRC-32C of what stands
// before that field. The last line may be torn by the end of the process or of the power:
// Open cuts it off, and says so with an entry of its own. A line elsewhere that
// is damaged stays where it is and is named, by file and offset; the entries
// around it count.
//
// # Who calls it, in which order
//
// cmd/omni claims the data directory (package datadir), calls Open, which locks
// the directory and tells what the process before left, and gives the Journal
// to package nodestate as its Sink. Record queues and never waits; one goroutine
// writes and fsyncs. Who must know that something is on disk calls Sync. Close
// writes what is left. Tail reads it back for operators, also while it is
// written; Read does for a directory that no node has open.
//
// # What it never does
//
// It never stops its node: what cannot be written is reported (Err), tried again
// with the next entry, and, when too much waits, counted as lost on record. It
// never reads more of a file than its bound.
package nodejournal
