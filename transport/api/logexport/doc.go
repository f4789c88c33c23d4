// Package logexport is the format of an exported execution log: what
// GET …/log/export sends, what a file of it holds, and how either is verified
// without a cluster (LO-1).
//
// The server makes a Writer over the answer's body, hands it every block in
// order, and finishes it. Whoever receives the stream calls Verify, or Copy to
// keep the bytes while they are verified.
//
// An export is complete when its trailer is there and agrees with the blocks:
// a stream that was cut is never taken for a short log. That a chain value is
// the cluster's own, the export cannot prove by itself: compare Summary.Chain
// with the digest that a trusted node reports at the same index.
//
// A SubjectWriter, and VerifyAgent, CopyAgent, CopyLedger and SubjectReader, do the
// same for the export of one agent and for a run's ledger (RU-4): the blocks that
// touch it, and those that hold what its records only name. Such an export has a
// checksum, and the subject's own chain value, which a node's state has too.
//
// What it never does: interpret a record, or keep more than one block in memory,
// apart from those that bodies are in.
package logexport
