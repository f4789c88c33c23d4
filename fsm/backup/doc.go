// Package backup is the form of a backup: one file, or stream, with a kernel's
// state as of one event and the whole execution log up to it.
//
// # Who calls it, in which order
//
// A node calls Write with a published state and its log: both stay what they are
// while Apply goes on, so a backup is consistent without stopping anything.
// Whoever receives the stream calls Copy, which keeps the bytes and checks them;
// Save gives a file its name only when it is whole and durable.
//
// To look into one: Inspect reads everything but the log, Verify everything. Both
// are made of a Reader, for whoever wants the content:
//
//	r, err := NewReader(file)        // whose it is, and as of when: r.Header()
//	err = r.State(section)           // the sections of the state, one by one
//	block, err := r.Block()          // the log, block by block, until io.EOF
//	err = r.Fold(s, block)           // perhaps: what the log leads to
//	r.Summary()
//
// Nothing that a Reader gives is to be trusted before Block has answered io.EOF:
// then the checksums, the chain from its genesis to the state's end of the log, the
// state's digest and the trailer agree.
//
// # What damage gets
//
// A *Broken, which names the part and the offset of the frame or block where it
// lies. What ends before its trailer is broken too: a cut stream is never taken for
// a short backup. A newer format or kernel version is a *NewerError.
//
// # What it never does
//
// It keeps no more than one frame of the file in memory (Inspect and Verify build
// the state beside it, since they tell what is in it), trusts no length with
// memory, touches no file but in Save, and knows nothing of nodes: package
// cluster/restore makes a cluster from a backup.
package backup
