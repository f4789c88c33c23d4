// Package snapshot is the form in which a kernel's state is kept as one file or
// stream: a header, the state's sections, and a trailer with their digest.
//
// A Raft snapshot is one, and so is the state in a backup. The FSM calls Write
// with a published state, and reads with NewReader, Header, and Next until it
// answers io.EOF: only then has every byte been checked. Whoever has sections
// already, and wants them under another header, gives them to a Writer.
//
// What it never does: build a state (that is kernel.Restorer), hold more than
// one section in memory, or carry history (mechanics: "The execution log", 5).
package snapshot
