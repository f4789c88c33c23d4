// Package memory keeps what agents store beyond one tick: the persistent memory
// of each agent, and the memory that agents share by namespace (ME-1;
// kernel-architecture.md section 5). The third scope, ephemeral, is execution's.
//
// A tick never touches it. The request leaves the tick as a call, the gate
// judges it, and in the same event (ME-2):
//
//  1. CheckKey and CheckNamespace judge the address, before any grant is read;
//  2. Look finds what is there, and notes it in the Access that is to be
//     recorded;
//  3. CheckWrite judges a write or a delete: the version that the caller
//     expects, and the limits;
//  4. the Access is published, for reads as for writes, and ApplyAccess takes
//     it in: log first.
//
// The version of a value is the busSeq of the record that wrote it, so versions
// are never reused, not even by a key that was deleted and came back.
//
// Recovery puts persistent memory back to where it was when the tick last left
// (FA-1). The row keeps what that takes: for each key that the current run of a
// tick has written, what was there before. Shared memory is not put back.
// Suspending writes a Snapshot with a checksum over the agent's memory and its
// frozen tick; resuming computes it again (ME-3).
//
// Nothing here judges a permission, and no value is looked into: a value is
// canonical bytes, and no store holds a reference to anything live.
package memory
