// Package disk has disks that fail, for nodes whose data directories the lab
// hands them. It is for Linux, as root.
//
// # Who calls it, in which order
//
// The lab makes one disk for each node and gives the node Dir as the place of its
// data directory. At the end it calls Close; after an interrupted run Sweep, with
// the directory below which the run made its disks.
//
//   - Image is an ext4 file system in a file. Cut takes its power away: what was not
//     fsynced is gone, as ext4 loses it. Fill and Free make it full and give the room
//     back. ReadOnly makes it what ext4 becomes that found an error in itself.
//   - Faulty is a file system in user space over a directory, with faults that
//     Inject switches on and Heal off while the node runs: fsyncs that fail or take
//     their time, writes that fail, whole or in part, reads with a flipped bit.
//     LoseUnsynced is its power cut. It is harsher than ext4's: each write that was
//     not fsynced is lost, kept or torn by itself, and the end of what happened to
//     names is undone unless the file or the directory was fsynced.
//   - Choose and Helix say what to damage in the data directories of nodes that are
//     stopped, from a seed; Damage does it and says what exactly was done.
//
// Whoever uses a Faulty must be another process than the one that made it: Go would
// wait for itself as soon as a file is mapped into memory.
//
// # What a failed fsync means
//
// As on Linux: the writes before it stay to be seen, and are never written. An
// fsync afterwards succeeds and makes durable only what came after. So a node that
// tries again and goes on loses what it acknowledged at the next power cut.
//
// # What it never does
//
// It never cuts the power under a process: who uses the disk must be dead or
// stopped first, since an fsync under way at the cut might still report success
// and blame the node for it. Image and Faulty refuse while somebody does. It never
// skips a fault that cannot be injected: the error says what the machine lacks. It
// knows the product's files by their names only (docs/log.md), never by its code.
package disk
