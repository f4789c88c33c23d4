// Package logaudit reads an execution log and says whether what it tells could
// have happened: an independent reader, with the log alone (LO-12).
//
// Whoever has a log from its beginning makes an Auditor with New, feeds it every
// block in order, and takes its Report at any time. Rules lists what is checked,
// each with the sentence of docs/semantics.md that it holds the log to. A
// finding names the record, the agent, the rule, and says in a sentence what is
// wrong. After a finding the Auditor believes the record and goes on, so one
// fault in a log is mostly one finding.
//
// What a fork says of its source rests on history that is not kept. Where Unread
// is not 0, the log is read a second time, into what Origins gives.
//
// It keeps tables of its own, of what agents that live are doing and of the
// calls that are open. Memory grows with those, not with the log's length; the
// list of findings is bounded, the counts are not.
//
// What it never does: import the flows, the appliers' tables, the kernel's state
// or its checks of invariants. What it shares with them are formats (the bodies
// of records), data (the lifecycle table, the tools' manifests), and the
// evaluation of one list of grants. internal/lint holds it to that.
package logaudit
